// What failed, ended or came too late, of the store in memory.

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "storage/id_ranges.h"
#include "storage/memory_store.h"

namespace leadline::storage {
namespace {

bool IsFull(size_t size, int64_t limit) {
  return static_cast<int64_t>(size) >= limit;
}

}  // namespace

absl::Status MemoryReader::FindParent(SweepId sweep,
                                      const std::optional<CellId>& cell) const {
  if (cell && (cell->sweep != sweep || !record_->cells.contains(*cell))) {
    return absl::NotFoundError("no cell " + ToText(*cell));
  }
  if (!record_->sweeps.contains(sweep)) {
    return absl::NotFoundError("no sweep " + ToText(sweep));
  }
  return absl::OkStatus();
}

bool MemoryReader::HasFailed(CohortId cohort, FailureKind kind) const {
  for (auto it = record_->attempts.lower_bound(FirstAttempt(cohort));
       it != record_->attempts.end() && it->first.cohort == cohort; ++it) {
    if (it->second.kind == kind) return true;
  }
  return false;
}

absl::StatusOr<std::map<int64_t, int64_t>> MemoryReader::CohortOrphans(
    CohortId cohort) const {
  const std::lock_guard lock(record_->mutex);
  std::map<int64_t, int64_t> counts;
  for (auto it = record_->orphans.lower_bound({FirstAttempt(cohort), kLeast});
       it != record_->orphans.end() && it->first.first.cohort == cohort; ++it) {
    ++counts[it->first.first.number];
  }
  return counts;
}

absl::StatusOr<OrphanCount> MemoryReader::SweepOrphans(SweepId sweep) const {
  const std::lock_guard lock(record_->mutex);
  OrphanCount count;
  std::set<AttemptKey> attempts;
  for (auto it = record_->orphans.lower_bound({FirstAttempt(sweep), kLeast});
       it != record_->orphans.end() &&
       it->first.first.cohort.cell.sweep == sweep;
       ++it) {
    ++count.records;
    attempts.insert(it->first.first);
  }
  count.attempts = static_cast<int64_t>(attempts.size());
  return count;
}

absl::StatusOr<std::vector<SweepId>> MemoryReader::RemovedAmong(
    const std::vector<SweepId>& asked) const {
  const std::lock_guard lock(record_->mutex);
  const std::set<SweepId> sorted(asked.begin(), asked.end());
  std::vector<SweepId> removed;
  for (const SweepId sweep : sorted) {
    if (record_->retired.contains(sweep)) removed.push_back(sweep);
  }
  return removed;
}

absl::StatusOr<std::vector<FailureCount>> MemoryReader::CountFailures(
    SweepId sweep) const {
  const std::lock_guard lock(record_->mutex);
  std::vector<FailureCount> counts;
  for (const FailureKind kind : kFailureKinds) {
    FailureCount count{kind, 0, 0};
    std::set<CohortId> cohorts;
    for (auto it = record_->attempts.lower_bound(FirstAttempt(sweep));
         it != record_->attempts.end() && it->first.cohort.cell.sweep == sweep;
         ++it) {
      if (it->second.kind != kind) continue;
      ++count.attempts;
      cohorts.insert(it->first.cohort);
    }
    for (auto it = record_->trials.lower_bound(FirstTrial(sweep));
         it != record_->trials.end() && it->first.cell.sweep == sweep; ++it) {
      if (cohorts.contains(it->second.cohort)) ++count.trials;
    }
    if (count.attempts > 0) counts.push_back(count);
  }
  return counts;
}

absl::StatusOr<std::vector<EndedGroup>> MemoryReader::ListEnded(
    SweepId sweep, int64_t limit) const {
  const std::lock_guard lock(record_->mutex);
  std::map<std::tuple<TrialState, std::string, bool>, EndedGroup> groups;
  for (auto it = record_->trials.lower_bound(FirstTrial(sweep));
       it != record_->trials.end() && it->first.cell.sweep == sweep; ++it) {
    const TrialRecord& trial = it->second;
    if (!IsEnded(trial.state) || trial.state == TrialState::kSucceeded) {
      continue;
    }
    const bool began = record_->cohorts.at(trial.cohort).attempts > 0;
    EndedGroup& group = groups[{trial.state, trial.reason, began}];
    if (group.trials == 0) {
      group = {trial.state, trial.reason, began, 0, trial.id};
    }
    ++group.trials;
  }
  std::vector<EndedGroup> list;
  list.reserve(groups.size());
  for (const auto& [key, group] : groups) list.push_back(group);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.trials, a.first) < std::tuple(-b.trials, b.first);
  });
  if (IsFull(list.size(), limit)) list.resize(static_cast<size_t>(limit));
  return list;
}

absl::StatusOr<std::vector<TrialRow>> MemoryReader::ListTrialsFailed(
    FailureKind kind, SweepId sweep, std::optional<CellId> cell,
    std::optional<TrialId> after, int64_t limit) const {
  const std::lock_guard lock(record_->mutex);
  if (auto found = FindParent(sweep, cell); !found.ok()) return found;
  TrialId first = cell ? FirstTrial(*cell) : FirstTrial(sweep);
  if (after && *after > first) first = *after;
  std::vector<TrialRow> rows;
  for (auto it = record_->trials.upper_bound(first);
       it != record_->trials.end() && it->first.cell.sweep == sweep &&
       (!cell || it->first.cell == *cell) && !IsFull(rows.size(), limit);
       ++it) {
    if (HasFailed(it->second.cohort, kind)) rows.push_back(RowOf(it->second));
  }
  return rows;
}

absl::StatusOr<int64_t> MemoryReader::CountTrialsFailed(
    FailureKind kind, SweepId sweep, std::optional<CellId> cell) const {
  const std::lock_guard lock(record_->mutex);
  if (auto found = FindParent(sweep, cell); !found.ok()) return found;
  int64_t count = 0;
  for (auto it = record_->trials.lower_bound(cell ? FirstTrial(*cell)
                                                  : FirstTrial(sweep));
       it != record_->trials.end() && it->first.cell.sweep == sweep &&
       (!cell || it->first.cell == *cell);
       ++it) {
    if (HasFailed(it->second.cohort, kind)) ++count;
  }
  return count;
}

}  // namespace leadline::storage
