#include "coordinator/control/recalls.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace leadline::control {

void Recalls::Add(Envelope envelope, std::vector<SweepId> sweeps) {
  std::deque<SweepId> to_read(sweeps.begin(), sweeps.end());
  waiting_.push_back(
      {std::move(envelope), std::move(to_read), nullptr, std::move(sweeps)});
}

bool Recalls::Concerns(SweepId sweep) const {
  return std::ranges::any_of(waiting_, [&](const Recall& recall) {
    return std::ranges::find(recall.sweeps, sweep) != recall.sweeps.end();
  });
}

absl::StatusOr<int64_t> Recalls::ReadPart(const storage::Store& store,
                                          Recall& recall, int64_t most) const {
  if (!recall.reading) recall.reading = std::make_shared<RecalledSweep>();
  RecalledSweep& reading = *recall.reading;
  // All cells have as many trials as the first.
  const std::vector<Cell>& cells = reading.sweep.cells;
  const int64_t a_cell =
      cells.empty() ? most
                    : std::max<int64_t>(
                          reading.sweep.CountPlanned() / std::ssize(cells), 1);
  const auto part =
      store.LoadCells(recall.to_read.front(), std::ssize(cells) + 1,
                      std::max<int64_t>(most / a_cell, 1));
  if (!part.ok()) return part.status();
  AddPart(reading, *part);
  return std::ssize(part->trials);
}

absl::StatusOr<bool> Recalls::ReadSome(const storage::Store& store) {
  Recall& recall = waiting_.front();
  auto& retry = std::get<RetryTargets>(recall.envelope.command);
  int64_t left = most_trials_;
  while (!recall.to_read.empty() && left > 0) {
    const auto read = ReadPart(store, recall, left);
    // That there is no such sweep control says.
    if (!read.ok() && !absl::IsNotFound(read.status())) return read.status();
    if (read.ok() && *read > 0) {
      left -= *read;
      continue;
    }
    if (read.ok()) retry.ended.push_back(std::move(recall.reading));
    recall.reading.reset();
    recall.to_read.pop_front();
  }
  return recall.to_read.empty();
}

Envelope Recalls::Take() {
  Envelope envelope = std::move(waiting_.front().envelope);
  waiting_.pop_front();
  return envelope;
}

void Recalls::Refuse(const absl::Status& status) {
  for (Recall& recall : std::exchange(waiting_, {})) {
    recall.envelope.answered(status);
  }
}

}  // namespace leadline::control
