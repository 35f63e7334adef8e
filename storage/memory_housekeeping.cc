// What people say of sweeps and what they remove, of the store in memory.

#include <algorithm>
#include <set>
#include <string>

#include "storage/change_checks.h"
#include "storage/id_ranges.h"
#include "storage/memory_store.h"

namespace leadline::storage {
namespace {

bool HasAll(const std::vector<std::string>& tags,
            const std::vector<std::string>& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& tag) {
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
  });
}

}  // namespace

template <typename Map, typename Fits>
void MemoryTransaction::EraseFrom(Map& map, typename Map::key_type first,
                                  const Fits& fits) {
  std::vector<typename Map::key_type> keys;
  for (auto it = map.lower_bound(first); it != map.end() && fits(it->first);
       ++it) {
    keys.push_back(it->first);
  }
  for (const auto& key : keys) Erase(map, key);
}

void MemoryTransaction::EraseMeasurements(const TrialId& trial) {
  EraseFrom(record_.curves, {trial, ""},
            [&](const auto& key) { return key.trial == trial; });
  EraseFrom(record_.routing, {trial, kLeast},
            [&](const auto& key) { return key.first == trial; });
  EraseFrom(record_.windows, {trial, "", kLeast},
            [&](const auto& key) { return key.trial == trial; });
}

absl::Status MemoryTransaction::On(const DescribeSweep& change) {
  const auto found = record_.sweeps.find(change.sweep);
  if (found == record_.sweeps.end()) {
    return absl::NotFoundError("no sweep " + ToText(change.sweep));
  }
  if (absl::Status fit = CheckDescription(change, found->second.state);
      !fit.ok()) {
    return fit;
  }
  SweepRecord sweep = found->second;
  sweep.archived_at = change.archived_at;
  sweep.note = change.note;
  sweep.tags = change.tags;
  Set(record_.sweeps, change.sweep, sweep);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const RemoveSweep& change) {
  const SweepId id = change.sweep;
  const auto found = record_.sweeps.find(id);
  if (found == record_.sweeps.end()) {
    return absl::NotFoundError("no sweep " + ToText(id));
  }
  if (absl::Status may = CheckRemoval(id, found->second.state); !may.ok()) {
    return may;
  }
  Set(record_.retired, id, found->second.name);
  std::vector<TrialId> trials;
  for (auto it = record_.trials.lower_bound(FirstTrial(id));
       it != record_.trials.end() && it->first.cell.sweep == id; ++it) {
    trials.push_back(it->first);
  }
  for (const TrialId& trial : trials) {
    EraseMeasurements(trial);
    Erase(record_.results, trial);
    Erase(record_.trials, trial);
  }
  EraseFrom(record_.orphans, {FirstAttempt(id), kLeast},
            [&](const auto& key) { return key.first.cohort.cell.sweep == id; });
  EraseFrom(record_.attempts, FirstAttempt(id),
            [&](const auto& key) { return key.cohort.cell.sweep == id; });
  EraseFrom(record_.cohorts, FirstCohort(id),
            [&](const auto& key) { return key.cell.sweep == id; });
  EraseFrom(record_.cells, FirstCell(id),
            [&](const auto& key) { return key.sweep == id; });
  Erase(record_.errands, id);
  Erase(record_.sweeps, id);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const DropMeasurements& change) {
  const auto found = record_.trials.find(change.trial);
  if (found == record_.trials.end()) {
    return absl::NotFoundError("no trial " + ToText(change.trial));
  }
  if (absl::Status may = CheckRemoval(change.trial, found->second.state);
      !may.ok()) {
    return may;
  }
  EraseMeasurements(change.trial);
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryStore::Purge(const PurgeLimits&) {
  const std::lock_guard lock(record_->mutex);
  record_->staged.clear();
  return false;
}

absl::StatusOr<std::optional<SweepRecord>> MemoryStore::FindSweep(
    SweepId sweep) const {
  const std::lock_guard lock(record_->mutex);
  const auto found = record_->sweeps.find(sweep);
  if (found == record_->sweeps.end()) return std::optional<SweepRecord>();
  return std::optional<SweepRecord>(found->second);
}

absl::StatusOr<BackupFacts> MemoryReader::BackUp(
    const std::filesystem::path&) const {
  return absl::UnimplementedError("a record in memory has no copy on disk");
}

bool MemoryReader::Fits(const SweepRecord& sweep,
                        const SweepFilter& filter) const {
  const auto& states = filter.states;
  if (!states.empty() &&
      std::find(states.begin(), states.end(), sweep.state) == states.end()) {
    return false;
  }
  if (!filter.user.empty() && sweep.user != filter.user) return false;
  if (sweep.name.find(filter.name) == std::string::npos) return false;
  if (filter.since && sweep.submitted_at < *filter.since) return false;
  if (filter.archived == SweepFilter::Archived::kLeftOut && sweep.archived_at) {
    return false;
  }
  if (filter.archived == SweepFilter::Archived::kAlone && !sweep.archived_at) {
    return false;
  }
  if (!HasAll(sweep.tags, filter.tags)) return false;
  if (!filter.failed_kind) return true;
  for (auto it = record_->attempts.lower_bound(FirstAttempt(sweep.id));
       it != record_->attempts.end() && it->first.cohort.cell.sweep == sweep.id;
       ++it) {
    if (it->second.kind == filter.failed_kind) return true;
  }
  return false;
}

absl::StatusOr<std::vector<SweepRow>> MemoryReader::FindSweeps(
    const SweepFilter& filter, std::optional<SweepId> before,
    int64_t limit) const {
  const std::lock_guard lock(record_->mutex);
  std::vector<SweepRow> rows;
  for (auto it = record_->sweeps.rbegin(); it != record_->sweeps.rend(); ++it) {
    if (static_cast<int64_t>(rows.size()) >= limit) break;
    if (before && it->first >= *before) continue;
    if (Fits(it->second, filter)) rows.push_back(RowOf(it->second));
  }
  return rows;
}

absl::StatusOr<int64_t> MemoryReader::CountSweeps(
    const SweepFilter& filter) const {
  const std::lock_guard lock(record_->mutex);
  return std::count_if(
      record_->sweeps.begin(), record_->sweeps.end(),
      [&](const auto& entry) { return Fits(entry.second, filter); });
}

absl::StatusOr<Contents> MemoryReader::CountContents(SweepId sweep) const {
  const std::lock_guard lock(record_->mutex);
  Contents contents;
  std::set<std::string> nodes;
  for (auto it = record_->trials.lower_bound(FirstTrial(sweep));
       it != record_->trials.end() && it->first.cell.sweep == sweep; ++it) {
    Add(it->first, contents);
    ++contents.trials;
  }
  for (auto it = record_->attempts.lower_bound(FirstAttempt(sweep));
       it != record_->attempts.end() && it->first.cohort.cell.sweep == sweep;
       ++it) {
    ++contents.attempts;
    for (const RankRecord& rank : it->second.ranks) nodes.insert(rank.node);
  }
  contents.nodes.assign(nodes.begin(), nodes.end());
  return contents;
}

absl::StatusOr<Contents> MemoryReader::CountContents(TrialId trial) const {
  const std::lock_guard lock(record_->mutex);
  Contents contents;
  Add(trial, contents);
  return contents;
}

void MemoryReader::Add(const TrialId& trial, Contents& contents) const {
  for (auto it = record_->curves.lower_bound({trial, ""});
       it != record_->curves.end() && it->first.trial == trial; ++it) {
    contents.points += static_cast<int64_t>(it->second.size());
  }
  for (auto it = record_->routing.lower_bound({trial, kLeast});
       it != record_->routing.end() && it->first.first == trial; ++it) {
    ++contents.routings;
  }
}

}  // namespace leadline::storage
