// The oracle's own account of failures: what they do to tries, nodes and sweeps
// follows from committed changes and docs/failures.md alone.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/experiment.h"
#include "common/ids.h"
#include "storage/store.h"

namespace leadline::simulation {

class FailureAccount {
 public:
  /// Of each of its devices; 0: the node does not say.
  void KnowMemory(const std::string& node, int64_t bytes) {
    memory_[node] = bytes;
  }

  /// From when the coordinator has a node, until it has lost its stream.
  void OnRegistered(const std::string& node) { ++registered_[node]; }
  void OnUnregistered(const std::string& node) { --registered_[node]; }

  /// One transaction.
  void OnCommitted(std::span<const storage::Change> changes);

  /// What is stored of sweeps, cohorts and nodes is what was committed.
  void OnLoaded(const storage::Store& store) const;

 private:
  struct CohortAccount {
    int64_t attempts = 0;
    int64_t failures = 0;
    int64_t failures_in_row = 0;
    int64_t furthest_step = 0;
    int64_t spared = 0;
    int64_t memory_tried = 0;
    int64_t ranks = 1;                     // of its last attempt
    std::optional<FailureKind> failed_by;  // its last attempt
    std::set<std::string> hit_on;          // nodes that may be to blame
    std::string failed_on;                 // node, of the last attempt
    bool owes_standing = false;
    bool live = false;
    storage::CohortRecord stored;

    bool IsUsedUp() const;
    /// People try it again: all that counts begins anew.
    void Forget();
  };
  struct NodeAccount {
    std::vector<AttemptKey> row;  // of failures held against it
    std::set<AttemptKey> canaries;
    int64_t failed_canaries = 0;
    bool must_close = false;
    storage::NodeRecord stored;
  };
  struct SweepAccount {
    storage::SweepRecord record;
    int64_t failed = 0;
    int64_t failed_in_row = 0;
    int64_t open = 0;  // trials
    bool is_over_limit = false;
    bool stopped = false;
    int64_t errands = 0;  // under way; what is due waits for them
  };
  struct AttemptAccount {
    std::vector<std::string> nodes;
    int64_t memory = 0;  // of all its ranks; 0: not known
    int64_t ranks = 1;
    int64_t step = 0;
  };

  /// Where it failed, as its end says; empty where nobody can tell.
  static std::string BlamedNode(const storage::EndAttempt& end,
                                const AttemptAccount& attempt);

  // What is of no account here.
  template <typename Change>
  void On(const Change&) {}
  void On(const storage::AddSweep& change);
  void On(const storage::RemoveSweep& change) { sweeps_.erase(change.sweep); }
  void On(const storage::MoveTrial& change);
  void On(const storage::StartAttempt& change);
  void On(const storage::Acknowledge& change);
  void On(const storage::EndAttempt& change);
  void On(const storage::SetStanding& change);
  void On(const storage::StopSweep& change);
  void On(const storage::BeginErrand& change) {
    ++sweeps_.at(change.errand.sweep).errands;
  }
  void On(const storage::EndErrand& change) {
    --sweeps_.at(change.errand.sweep).errands;
    touched_.insert(change.errand.sweep);
  }
  void On(const storage::SetNode& change);

  void CountFailure(const storage::EndAttempt& end, CohortAccount& cohort);
  void HoldAgainst(const storage::EndAttempt& end, NodeAccount& node);
  void DemandReasonToFail(const storage::MoveTrial& change) const;
  void DemandNoBetterNode(const storage::MoveTrial& change,
                          const CohortAccount& cohort) const;
  void TakeBack(const storage::MoveTrial& change);
  void DemandDue();
  void DemandReasonToReopen() const;

  std::map<std::string, int64_t> memory_;
  std::map<std::string, int64_t> registered_;  // streams of a node
  std::map<SweepId, SweepAccount> sweeps_;
  std::map<CohortId, CohortAccount> cohorts_;
  std::map<TrialId, CohortId> cohort_of_;
  std::map<AttemptKey, AttemptAccount> attempts_;
  std::map<std::string, NodeAccount> nodes_;

  // Within one transaction:
  std::set<std::string> closed_;    // nodes in quarantine at some moment
  std::set<std::string> reopened_;  // or cleared
  std::set<std::string> did_well_;  // an attempt there succeeded or spoke
  std::set<CohortId> given_back_to_;
  std::set<CohortId> ended_;
  std::set<CohortId> forgotten_;  // tries of theirs
  std::set<CohortId> retried_;
  std::set<SweepId> touched_;
};

}  // namespace leadline::simulation
