// What must hold after every step, judged from outside: it keeps its own
// account of what was committed, told and started, and believes no state of the
// programs.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "clockwork.h"
#include "common/experiment.h"
#include "common/ids.h"
#include "failure_account.h"
#include "storage/store.h"
#include "violation.h"

namespace leadline::simulation {

class Oracle {
 public:
  explicit Oracle(const Clockwork& clockwork) : clockwork_(clockwork) {}

  /// How much memory each device of a node has; 0: it does not say.
  void KnowMemory(const std::string& node, int64_t bytes) {
    failures_.KnowMemory(node, bytes);
  }

  /// The coordinator has taken a heartbeat of an attempt, which came at that
  /// time.
  void OnRenewed(const AttemptKey& attempt, const std::string& node,
                 SteadyTime at) {
    renewed_[{attempt, node}] = at;
  }

  /// The coordinator has told the node that it is registered; or its stream is
  /// gone.
  void OnRegistered(const std::string& node) { failures_.OnRegistered(node); }
  void OnUnregistered(const std::string& node) {
    failures_.OnUnregistered(node);
  }

  /// What is durable from now on.
  void OnCommitted(std::span<const storage::Change> changes);

  /// What agents and people are told: it must be durable before.
  void OnAcknowledged(const AttemptKey& attempt, int64_t sequence) const;
  void OnEndAcknowledged(const AttemptKey& attempt) const;
  void OnSubmitted(SweepId sweep);
  void OnCancelled(const std::variant<SweepId, CellId, TrialId>& target);

  /// After a restart, what the store yields holds all that was durable.
  void OnLoaded(const storage::Store& store) const;

  /// Processes of trainers, as the machines see them.
  void OnTrainerStarted(int64_t node, const AttemptKey& attempt, int64_t rank,
                        const std::vector<std::string>& devices);
  void OnTrainerSteps(const AttemptKey& attempt);
  /// It wrote all its results, and its event file will be read.
  void OnTrainerFinished(const AttemptKey& attempt);
  /// `is_through`: it had done all that ranks do together.
  void OnTrainerGone(int64_t node, const AttemptKey& attempt, int64_t rank,
                     bool is_through);
  /// Its agent looks for why it ended; null: there is nothing left to see.
  void OnEvidence(const AttemptKey& attempt, std::optional<FailureKind> kind) {
    evidence_[attempt] = kind;
  }

  /// Every planned trial of that many sweeps has ended.
  void CheckAllEnded(int64_t sweeps) const;
  bool AllEnded() const;

  int64_t attempts() const { return static_cast<int64_t>(known_.size()); }

 private:
  void On(const storage::AddSweep& change);
  void On(const storage::MoveSweep& change);
  void On(const storage::MoveTrial& change);
  void On(const storage::StartAttempt& change);
  void On(const storage::DescribeAttempt& change);
  void On(const storage::EndAttempt& change);
  void On(const storage::AskToStop& change);
  void On(const storage::Acknowledge& change);
  void On(const storage::AddPoints& change);
  void On(const storage::AddRouting& change);
  void On(const storage::AddWindows& change);
  void On(const storage::AddResult& change);
  void On(const storage::KeepOrphan& change);
  void On(const storage::KeepAnswer&) {}
  // Told as a sweep that is added, once it is there.
  void On(const storage::StageSweep&) {}
  void On(const storage::AdmitSweep&) {}
  void On(const storage::DescribeSweep&) {}
  void On(const storage::BeginErrand& change);
  void On(const storage::EndErrand& change);
  void On(const storage::RemoveSweep& change);
  void On(const storage::DropMeasurements&) {}
  void On(const storage::SetRankPids& change) {
    DemandLive(change.attempt, "named its processes");
  }
  // Judged by the account of failures.
  void On(const storage::SetStanding&) {}
  void On(const storage::StopSweep&) {}
  void On(const storage::SetNode&) {}

  static bool IsOf(const storage::ErrandRecord& errand, const TrialId& trial);

  void DemandSilence(const storage::EndAttempt& end) const;
  void DemandLive(const AttemptKey& attempt, const char* doing) const;

  struct TrialAccount {
    TrialState state = TrialState::kQueued;
    CohortId cohort;
    int64_t ends = 0;  // but for those that people took back
    bool retried = false;
    std::optional<AttemptKey> result_of;
  };

  const Clockwork& clockwork_;
  FailureAccount failures_;
  std::map<std::pair<AttemptKey, std::string>, SteadyTime> renewed_;
  std::map<AttemptKey, int64_t> sizes_;  // ranks
  std::set<AttemptKey> lost_a_rank_;
  std::map<SweepId, SweepState> sweeps_;
  std::map<SweepId, int64_t> errands_;  // that are under way
  std::set<TrialId> to_be_queued_;      // by them
  std::set<SweepId> promised_;
  std::set<SweepId> removed_;
  std::map<TrialId, TrialAccount> trials_;
  std::map<AttemptKey, int64_t> known_;  // to the last durable sequence
  std::set<AttemptKey> live_;
  std::set<AttemptKey> finished_;  // by its trainer
  std::set<AttemptKey> asked_to_stop_;
  std::map<AttemptKey, std::optional<FailureKind>> evidence_;
  std::map<AttemptKey, std::set<int64_t>> orphans_;

  struct Process {
    AttemptKey attempt;
    int64_t rank = 0;
    std::vector<std::string> devices;
    bool stepped = false;
  };
  std::map<int64_t, std::vector<Process>> processes_;  // by node
};

/// The marks a simulated trainer leaves in what it measures, so that what came
/// from which attempt can be told afterwards.
double MarkedLoss(const AttemptKey& attempt, int64_t step);
double TrueLoss(const CellId& cell, int64_t seed);

}  // namespace leadline::simulation
