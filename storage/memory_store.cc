#include "storage/memory_store.h"

#include <algorithm>
#include <utility>

#include "storage/id_ranges.h"
#include "storage/memory_access.h"
#include "storage/open.h"

namespace leadline::storage {
namespace {

/// Of cells whose numbers fit.
template <typename Fits>
SweepContents ContentsOf(const MemoryRecord& record, const SweepRecord& sweep,
                         const Fits& fits) {
  const SweepId id = sweep.id;
  SweepContents contents;
  contents.sweep = sweep;
  const auto errands = record.errands.find(id);
  if (errands != record.errands.end()) contents.errands = errands->second;
  for (auto it = record.cells.lower_bound(FirstCell(id));
       it != record.cells.end() && it->first.sweep == id; ++it) {
    if (fits(it->first.number)) contents.cells.push_back(it->second);
  }
  for (auto it = record.cohorts.lower_bound(FirstCohort(id));
       it != record.cohorts.end() && it->first.cell.sweep == id; ++it) {
    if (fits(it->first.cell.number)) contents.cohorts.push_back(it->second);
  }
  for (auto it = record.trials.lower_bound(FirstTrial(id));
       it != record.trials.end() && it->first.cell.sweep == id; ++it) {
    if (fits(it->first.cell.number)) contents.trials.push_back(it->second);
  }
  for (auto it = record.attempts.lower_bound(FirstAttempt(id));
       it != record.attempts.end() && it->first.cohort.cell.sweep == id; ++it) {
    if (!fits(it->first.cohort.cell.number)) continue;
    if (it->second.outcome == AttemptOutcome::kLive) {
      contents.live.push_back(it->second);
    } else if (it->second.outcome == AttemptOutcome::kCancelled &&
               record.cohorts.at(it->first.cohort).attempts ==
                   it->first.number) {
      contents.cancelled.push_back(it->second);
    }
  }
  return contents;
}

SweepContents ContentsOf(const MemoryRecord& record, const SweepRecord& sweep) {
  return ContentsOf(record, sweep, [](int64_t) { return true; });
}

}  // namespace

absl::Status MemoryStore::Commit(std::span<const Change> changes) {
  const std::lock_guard lock(record_->mutex);
  MemoryTransaction transaction(*record_);
  for (const Change& change : changes) {
    if (absl::Status applied = transaction.Apply(change); !applied.ok()) {
      transaction.Undo();
      return applied;
    }
  }
  record_->points.stored += transaction.points().stored;
  record_->points.overwritten += transaction.points().overwritten;
  return absl::OkStatus();
}

PointCounts MemoryStore::CountPoints() const {
  const std::lock_guard lock(record_->mutex);
  return record_->points;
}

absl::StatusOr<std::vector<SweepContents>> MemoryStore::LoadUnfinished() const {
  const std::lock_guard lock(record_->mutex);
  std::vector<SweepContents> all;
  for (const auto& [id, sweep] : record_->sweeps) {
    if (sweep.state == SweepState::kActive ||
        sweep.state == SweepState::kPaused) {
      all.push_back(ContentsOf(*record_, sweep));
    }
  }
  return all;
}

absl::StatusOr<std::vector<NodeRecord>> MemoryStore::LoadNodes() const {
  const std::lock_guard lock(record_->mutex);
  std::vector<NodeRecord> all;
  for (const auto& [name, node] : record_->nodes) all.push_back(node);
  return all;
}

absl::StatusOr<SweepContents> MemoryStore::LoadSweep(SweepId sweep) const {
  const std::lock_guard lock(record_->mutex);
  const auto found = record_->sweeps.find(sweep);
  if (found == record_->sweeps.end()) {
    return absl::NotFoundError("no sweep " + ToText(sweep));
  }
  return ContentsOf(*record_, found->second);
}

absl::StatusOr<SweepContents> MemoryStore::LoadCells(SweepId sweep,
                                                     int64_t first,
                                                     int64_t count) const {
  const std::lock_guard lock(record_->mutex);
  const auto found = record_->sweeps.find(sweep);
  if (found == record_->sweeps.end()) {
    return absl::NotFoundError("no sweep " + ToText(sweep));
  }
  return ContentsOf(*record_, found->second, [&](int64_t number) {
    return number >= first && number - first < count;
  });
}

absl::StatusOr<SweepId> MemoryStore::NextSweepId() const {
  const std::lock_guard lock(record_->mutex);
  int64_t last = 0;
  if (!record_->sweeps.empty()) last = record_->sweeps.rbegin()->first.value;
  if (!record_->retired.empty()) {
    last = std::max(last, record_->retired.rbegin()->first.value);
  }
  if (!record_->staged.empty()) {
    last = std::max(last, record_->staged.rbegin()->first.value);
  }
  return SweepId{last + 1};
}

absl::StatusOr<std::optional<SweepId>> MemoryStore::FindEqualSweep(
    const std::string& name, const std::string& canonical_hash) const {
  const std::lock_guard lock(record_->mutex);
  std::optional<SweepId> newest;
  for (const auto& [id, sweep] : record_->sweeps) {
    if (sweep.name == name && sweep.canonical_hash == canonical_hash) {
      newest = id;
    }
  }
  return newest;
}

absl::StatusOr<std::optional<std::string>> MemoryStore::FindAnswer(
    const std::string& request_id) const {
  const std::lock_guard lock(record_->mutex);
  const auto found = record_->answers.find(request_id);
  if (found == record_->answers.end()) return std::optional<std::string>();
  return std::optional(found->second);
}

StorePair MakeMemoryStore() {
  auto record = std::make_shared<MemoryRecord>();
  StorePair pair;
  pair.store = std::make_unique<MemoryStore>(record);
  pair.reader = std::make_unique<MemoryReader>(std::move(record));
  pair.access = std::make_shared<MemoryAccess>();
  return pair;
}

}  // namespace leadline::storage
