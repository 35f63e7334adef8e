#include <iterator>
#include <limits>

#include "storage/id_ranges.h"
#include "storage/memory_store.h"
#include "storage/result_metric.h"

namespace leadline::storage {
namespace {

bool IsFull(size_t size, int64_t limit) {
  return static_cast<int64_t>(size) >= limit;
}

}  // namespace

SweepRow MemoryReader::RowOf(const SweepRecord& sweep) const {
  SweepRow row;
  row.sweep = sweep;
  const SweepId id = sweep.id;
  for (auto it = record_->cells.lower_bound(FirstCell(id));
       it != record_->cells.end() && it->first.sweep == id; ++it) {
    ++row.cells;
  }
  for (auto it = record_->trials.lower_bound(FirstTrial(id));
       it != record_->trials.end() && it->first.cell.sweep == id; ++it) {
    const TrialRecord& trial = it->second;
    ++row.trials[static_cast<size_t>(trial.state)];
    if (trial.state == TrialState::kCancelled &&
        record_->cohorts.at(trial.cohort).attempts == 0) {
      ++row.never_began;
    }
  }
  return row;
}

TrialRow MemoryReader::RowOf(const TrialRecord& trial) const {
  TrialRow row;
  row.trial = trial;
  row.cell = record_->cells.at(trial.id.cell);
  row.attempts = record_->cohorts.at(trial.cohort).attempts;
  const auto result = record_->results.find(trial.id);
  if (result != record_->results.end()) {
    row.validation_loss = result->second.validation_loss;
  }
  for (auto it = record_->attempts.lower_bound(FirstAttempt(trial.cohort));
       it != record_->attempts.end() && it->first.cohort == trial.cohort;
       ++it) {
    if (it->second.kind) row.failed_kind = it->second.kind;
  }
  return row;
}

CellValues MemoryReader::ValuesOf(const CellRecord& cell,
                                  const std::string& metric) const {
  CellValues values;
  values.cell = cell;
  for (auto it = record_->trials.lower_bound(FirstTrial(cell.id));
       it != record_->trials.end() && it->first.cell == cell.id; ++it) {
    const TrialRecord& trial = it->second;
    ++values.planned;
    if (trial.state == TrialState::kDiverged) ++values.diverged;
    if (trial.state == TrialState::kFailed) ++values.failed;
    if (trial.state != TrialState::kSucceeded) continue;
    const auto result = record_->results.find(trial.id);
    if (result == record_->results.end()) continue;
    if (const auto value = ValueOf(result->second, metric)) {
      values.values.push_back(
          {trial.id, trial.seed, *value,
           record_->attempts.at(result->second.attempt).numerics});
    }
  }
  return values;
}

absl::StatusOr<std::vector<SweepRow>> MemoryReader::ListSweeps(
    std::optional<SweepId> before, int64_t limit) const {
  const std::lock_guard lock(record_->mutex);
  std::vector<SweepRow> rows;
  for (auto it = record_->sweeps.rbegin();
       it != record_->sweeps.rend() && !IsFull(rows.size(), limit); ++it) {
    if (!before || it->first < *before) rows.push_back(RowOf(it->second));
  }
  return rows;
}

absl::StatusOr<int64_t> MemoryReader::CountSweeps() const {
  const std::lock_guard lock(record_->mutex);
  return static_cast<int64_t>(record_->sweeps.size());
}

absl::StatusOr<std::array<int64_t, kTrialStates.size()>>
MemoryReader::CountTrials() const {
  const std::lock_guard lock(record_->mutex);
  std::array<int64_t, kTrialStates.size()> counts{};
  for (const auto& [id, trial] : record_->trials) {
    ++counts[static_cast<size_t>(trial.state)];
  }
  return counts;
}

absl::StatusOr<SweepRow> MemoryReader::GetSweep(SweepId sweep) const {
  const std::lock_guard lock(record_->mutex);
  const auto found = record_->sweeps.find(sweep);
  if (found == record_->sweeps.end()) {
    return absl::NotFoundError("no sweep " + ToText(sweep));
  }
  return RowOf(found->second);
}

absl::StatusOr<std::vector<SweepRecord>> MemoryReader::FindByName(
    const std::string& prefix, int64_t limit) const {
  const std::lock_guard lock(record_->mutex);
  std::vector<SweepRecord> found;
  for (auto it = record_->sweeps.rbegin();
       it != record_->sweeps.rend() && !IsFull(found.size(), limit); ++it) {
    if (it->second.name.starts_with(prefix)) found.push_back(it->second);
  }
  return found;
}

absl::StatusOr<std::vector<CellValues>> MemoryReader::ListCells(
    SweepId sweep, const std::string& metric, int64_t after,
    int64_t limit) const {
  if (!FindResultMetric(metric)) return NoSuchMetric(metric);
  const std::lock_guard lock(record_->mutex);
  if (!record_->sweeps.contains(sweep)) {
    return absl::NotFoundError("no sweep " + ToText(sweep));
  }
  std::vector<CellValues> cells;
  for (auto it = record_->cells.upper_bound({sweep, after});
       it != record_->cells.end() && it->first.sweep == sweep &&
       !IsFull(cells.size(), limit);
       ++it) {
    cells.push_back(ValuesOf(it->second, metric));
  }
  return cells;
}

absl::StatusOr<std::vector<TrialRow>> MemoryReader::ListTrials(
    SweepId sweep, std::optional<CellId> cell, std::optional<TrialId> after,
    int64_t limit) const {
  const std::lock_guard lock(record_->mutex);
  if (auto found = FindParent(sweep, cell); !found.ok()) return found;
  TrialId first = cell ? FirstTrial(*cell) : FirstTrial(sweep);
  if (after && *after > first) first = *after;
  std::vector<TrialRow> rows;
  for (auto it = record_->trials.upper_bound(first);
       it != record_->trials.end() && it->first.cell.sweep == sweep &&
       (!cell || it->first.cell == *cell) && !IsFull(rows.size(), limit);
       ++it) {
    rows.push_back(RowOf(it->second));
  }
  return rows;
}

absl::StatusOr<TrialRow> MemoryReader::GetTrial(TrialId trial) const {
  const std::lock_guard lock(record_->mutex);
  const auto found = record_->trials.find(trial);
  if (found == record_->trials.end()) {
    return absl::NotFoundError("no trial " + ToText(trial));
  }
  return RowOf(found->second);
}

absl::StatusOr<std::vector<TrialRecord>> MemoryReader::CohortTrials(
    CohortId cohort) const {
  const std::lock_guard lock(record_->mutex);
  std::vector<TrialRecord> trials;
  for (auto it = record_->trials.lower_bound(FirstTrial(cohort.cell));
       it != record_->trials.end() && it->first.cell == cohort.cell; ++it) {
    if (it->second.cohort == cohort) trials.push_back(it->second);
  }
  return trials;
}

absl::StatusOr<std::vector<AttemptRecord>> MemoryReader::ListAttempts(
    CohortId cohort) const {
  const std::lock_guard lock(record_->mutex);
  std::vector<AttemptRecord> attempts;
  for (auto it = record_->attempts.lower_bound(FirstAttempt(cohort));
       it != record_->attempts.end() && it->first.cohort == cohort; ++it) {
    attempts.push_back(it->second);
  }
  return attempts;
}

absl::StatusOr<std::optional<ResultRecord>> MemoryReader::FindResult(
    TrialId trial) const {
  const std::lock_guard lock(record_->mutex);
  const auto found = record_->results.find(trial);
  if (found == record_->results.end()) return std::optional<ResultRecord>();
  return std::optional(found->second);
}

absl::StatusOr<std::vector<Point>> MemoryReader::Curve(
    TrialId trial, const std::string& metric, int64_t after_step,
    int64_t limit) const {
  const std::lock_guard lock(record_->mutex);
  std::vector<Point> points;
  const auto curve = record_->curves.find({trial, metric});
  if (curve == record_->curves.end()) return points;
  for (auto it = curve->second.upper_bound(after_step);
       it != curve->second.end() && !IsFull(points.size(), limit); ++it) {
    points.push_back({trial, metric, it->first, it->second});
  }
  return points;
}

absl::StatusOr<std::optional<RoutingRecord>> MemoryReader::FindRouting(
    TrialId trial, std::optional<int64_t> step) const {
  const std::lock_guard lock(record_->mutex);
  const int64_t last = std::numeric_limits<int64_t>::max();
  auto next = record_->routing.upper_bound({trial, step.value_or(last)});
  if (next == record_->routing.begin()) return std::optional<RoutingRecord>();
  const RoutingRecord& found = std::prev(next)->second;
  if (found.trial != trial || (step && found.step != *step)) {
    return std::optional<RoutingRecord>();
  }
  return std::optional(found);
}

absl::StatusOr<std::optional<WindowLosses>> MemoryReader::FindWindows(
    TrialId trial, const std::string& split,
    std::optional<int64_t> step) const {
  const std::lock_guard lock(record_->mutex);
  const int64_t last = std::numeric_limits<int64_t>::max();
  auto next = record_->windows.upper_bound({trial, split, step.value_or(last)});
  if (next == record_->windows.begin()) return std::optional<WindowLosses>();
  const WindowLosses& found = std::prev(next)->second;
  if (found.trial != trial || found.split != split ||
      (step && found.step != *step)) {
    return std::optional<WindowLosses>();
  }
  return std::optional(found);
}

absl::StatusOr<std::vector<OrphanRecord>> MemoryReader::ListOrphans(
    AttemptKey attempt, int64_t after_sequence, int64_t limit) const {
  const std::lock_guard lock(record_->mutex);
  std::vector<OrphanRecord> orphans;
  for (auto it = record_->orphans.upper_bound({attempt, after_sequence});
       it != record_->orphans.end() && it->first.first == attempt &&
       !IsFull(orphans.size(), limit);
       ++it) {
    orphans.push_back(it->second);
  }
  return orphans;
}

}  // namespace leadline::storage
