#include "coordinator/control/admissions.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "coordinator/control/sweeps.h"

namespace leadline::control {

bool Admissions::MustWait(const Command& command) const {
  const auto* submit = std::get_if<SubmitSweep>(&command);
  return submit && !submit->staged &&
         std::ssize(submit->sweep.cells) * std::ssize(submit->sweep.seeds) >
             most_trials_;
}

std::optional<SweepId> Admissions::Number() const { return number_; }

void Admissions::Begin(SweepId number) {
  number_ = number;
  staged_ = std::make_shared<StagedSweep>();
  next_cell_ = 0;
}

const storage::Change* Admissions::NextPart() {
  if (part_) return &*part_;
  const auto& submit = std::get<SubmitSweep>(waiting_.front().command);
  const std::vector<NewCell>& cells = submit.sweep.cells;
  if (next_cell_ == cells.size()) return nullptr;
  const auto a_cell = std::max<int64_t>(std::ssize(submit.sweep.seeds), 1);
  const auto most =
      static_cast<size_t>(std::max<int64_t>(most_trials_ / a_cell, 1));
  cells_ = std::min(most, cells.size() - next_cell_);
  part_ = storage::StageSweep{
      BuildPart(submit.sweep, std::span(cells).subspan(next_cell_, cells_),
                *number_, static_cast<int64_t>(next_cell_) + 1)};
  return &*part_;
}

void Admissions::Taken() {
  auto& submit = std::get<SubmitSweep>(waiting_.front().command);
  const storage::AddSweep& part = std::get<storage::StageSweep>(*part_).part;
  std::vector<CellNeeds> needs;
  for (size_t i = 0; i < cells_; ++i) {
    NewCell& cell = submit.sweep.cells[next_cell_ + i];
    needs.push_back(cell.needs ? *cell.needs : NeedsOf(part.cells[i]));
    // All of it at once would hold everybody up as it goes.
    cell = {};
  }
  AddPart(*staged_, part, needs);
  next_cell_ += cells_;
  part_.reset();
}

Envelope Admissions::Take() {
  Envelope first = std::move(waiting_.front());
  waiting_.pop_front();
  std::get<SubmitSweep>(first.command).staged = std::exchange(staged_, nullptr);
  number_.reset();
  part_.reset();
  return first;
}

void Admissions::Refuse(const absl::Status& status) {
  for (Envelope& envelope : std::exchange(waiting_, {})) {
    envelope.answered(status);
  }
  number_.reset();
  staged_.reset();
  part_.reset();
}

}  // namespace leadline::control
