// The record of the store in memory, and how one change is applied to it.

#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "storage/store.h"

namespace leadline::storage {

/// All maps, under one lock that their users hold.
struct MemoryRecord {
  struct CurveKey {
    TrialId trial;
    std::string metric;
    auto operator<=>(const CurveKey&) const = default;
  };
  struct WindowKey {
    TrialId trial;
    std::string split;
    int64_t step = 0;
    auto operator<=>(const WindowKey&) const = default;
  };

  std::mutex mutex;
  PointCounts points;
  std::map<SweepId, SweepRecord> sweeps;
  std::map<CellId, CellRecord> cells;
  std::map<CohortId, CohortRecord> cohorts;
  std::map<TrialId, TrialRecord> trials;
  std::map<AttemptKey, AttemptRecord> attempts;
  std::map<TrialId, ResultRecord> results;
  std::map<CurveKey, std::map<int64_t, double>> curves;
  std::map<std::pair<TrialId, int64_t>, RoutingRecord> routing;
  std::map<WindowKey, WindowLosses> windows;
  std::map<std::pair<AttemptKey, int64_t>, OrphanRecord> orphans;
  std::map<std::string, std::string> answers;
  std::map<std::string, NodeRecord> nodes;
  std::map<SweepId, std::string> retired;  // names of removed sweeps
  std::map<SweepId, AddSweep> staged;      // what there is of them
  std::map<SweepId, std::vector<ErrandRecord>> errands;
};

/// Applies changes and remembers how to take them back. The caller holds the
/// record's lock for as long as this lives. A change that is refused may be
/// half applied: undo then.
class MemoryTransaction {
 public:
  explicit MemoryTransaction(MemoryRecord& record) : record_(record) {}

  absl::Status Apply(const Change& change);

  /// Takes back everything applied so far.
  void Undo();

  /// Of what was applied.
  const PointCounts& points() const { return points_; }

 private:
  absl::Status On(const AddSweep& change);
  absl::Status On(const StageSweep& change);
  absl::Status On(const AdmitSweep& change);
  absl::Status On(const MoveSweep& change);
  absl::Status On(const MoveTrial& change);
  absl::Status On(const StartAttempt& change);
  absl::Status On(const DescribeAttempt& change);
  absl::Status On(const SetRankPids& change);
  absl::Status On(const EndAttempt& change);
  absl::Status On(const AskToStop& change);
  absl::Status On(const Acknowledge& change);
  absl::Status On(const AddPoints& change);
  absl::Status On(const AddRouting& change);
  absl::Status On(const AddWindows& change);
  absl::Status On(const AddResult& change);
  absl::Status On(const KeepOrphan& change);
  absl::Status On(const KeepAnswer& change);
  absl::Status On(const SetStanding& change);
  absl::Status On(const StopSweep& change);
  absl::Status On(const SetNode& change);
  absl::Status On(const DescribeSweep& change);
  absl::Status On(const RemoveSweep& change);
  absl::Status On(const DropMeasurements& change);
  absl::Status On(const BeginErrand& change);
  absl::Status On(const EndErrand& change);

  const AttemptRecord* FindLive(const AttemptKey& key) const;
  absl::Status CheckWriter(const AttemptKey& key, const TrialId& trial) const;

  template <typename Map>
  void Set(Map& map, const typename Map::key_type& key,
           const typename Map::mapped_type& value) {
    const auto found = map.find(key);
    if (found == map.end()) {
      undo_.push_back([&map, key] { map.erase(key); });
      map.emplace(key, value);
      return;
    }
    undo_.push_back([&map, key, old = found->second] { map.at(key) = old; });
    found->second = value;
  }

  template <typename Map>
  void Erase(Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    if (found == map.end()) return;
    undo_.push_back(
        [&map, key, old = found->second] { map.emplace(key, old); });
    map.erase(found);
  }

  /// All from `first` on, for as long as their keys fit.
  template <typename Map, typename Fits>
  void EraseFrom(Map& map, typename Map::key_type first, const Fits& fits);

  void EraseMeasurements(const TrialId& trial);

  MemoryRecord& record_;
  PointCounts points_;
  std::vector<std::function<void()>> undo_;
};

}  // namespace leadline::storage
