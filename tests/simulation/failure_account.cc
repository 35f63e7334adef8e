#include "failure_account.h"

#include <algorithm>
#include <variant>

#include "violation.h"

namespace leadline::simulation {
namespace {

// docs/failures.md
constexpr int64_t kTriesInRow = 3;
constexpr int64_t kTriesInTotal = 8;
constexpr int64_t kQuarantineAfter = 3;

[[noreturn]] void Fail(const std::string& what) { throw Violation(what); }

bool UsesTry(FailureKind kind) {
  return kind != FailureKind::kDisk && kind != FailureKind::kAgentLost;
}

bool IsHeldAgainstNode(FailureKind kind) {
  switch (kind) {
    case FailureKind::kNcclInit:
    case FailureKind::kNccl:
    case FailureKind::kDevice:
    case FailureKind::kCrash:
    case FailureKind::kHang:
      return true;
    default:
      return false;
  }
}

bool AreOfSeveralCohorts(const std::vector<AttemptKey>& attempts) {
  return std::ranges::any_of(attempts, [&](const AttemptKey& key) {
    return key.cohort != attempts.front().cohort;
  });
}

std::string Standing(int64_t failures, int64_t in_row, int64_t furthest,
                     int64_t spared, int64_t memory) {
  return std::to_string(failures) + " failures, " + std::to_string(in_row) +
         " in a row, " + std::to_string(spared) + " spared, furthest step " +
         std::to_string(furthest) + ", " + std::to_string(memory) + " bytes";
}

}  // namespace

bool FailureAccount::CohortAccount::IsUsedUp() const {
  return failures_in_row >= kTriesInRow || failures >= kTriesInTotal;
}

bool FailureAccount::WaitsForMemory() const {
  return std::ranges::any_of(cohorts_, [this](const auto& entry) {
    const CohortAccount& cohort = entry.second;
    return cohort.open > 0 && cohort.memory_tried > 0 &&
           std::ranges::none_of(memory_, [&](const auto& node) {
             return node.second > cohort.memory_tried;
           });
  });
}

void FailureAccount::OnCommitted(std::span<const storage::Change> changes) {
  for (const storage::Change& change : changes) {
    std::visit([this](const auto& what) { On(what); }, change);
  }
  DemandDue();
  DemandReasonToReopen();
  closed_.clear();
  reopened_.clear();
  did_well_.clear();
  given_back_to_.clear();
  ended_.clear();
  touched_.clear();
}

void FailureAccount::On(const storage::AddSweep& change) {
  SweepAccount& sweep = sweeps_[change.sweep.id];
  sweep.record = change.sweep;
  sweep.open = std::ssize(change.trials);
  for (const storage::CohortRecord& cohort : change.cohorts) {
    cohorts_[cohort.id].stored = cohort;
  }
  for (const storage::TrialRecord& trial : change.trials) {
    cohort_of_[trial.id] = trial.cohort;
    ++cohorts_[trial.cohort].open;
  }
}

void FailureAccount::On(const storage::MoveTrial& change) {
  SweepAccount& sweep = sweeps_.at(change.trial.cell.sweep);
  touched_.insert(change.trial.cell.sweep);
  if (IsEnded(change.to)) {
    --sweep.open;
    --cohorts_.at(cohort_of_.at(change.trial)).open;
  }
  if (change.to == TrialState::kFailed) {
    DemandReasonToFail(change);
    ++sweep.failed;
    ++sweep.failed_in_row;
  } else if (change.to == TrialState::kSucceeded ||
             change.to == TrialState::kDiverged) {
    sweep.failed_in_row = 0;
  }
  const storage::SweepRecord& limits = sweep.record;
  if ((limits.failure_limit && sweep.failed >= *limits.failure_limit) ||
      (limits.failure_row_limit &&
       sweep.failed_in_row >= *limits.failure_row_limit)) {
    sweep.is_over_limit = true;
  }
}

void FailureAccount::DemandReasonToFail(
    const storage::MoveTrial& change) const {
  const CohortId id = cohort_of_.at(change.trial);
  const CohortAccount& cohort = cohorts_.at(id);
  if (!cohort.failed_by) {
    Fail("trial " + ToText(change.trial) + " failed, and no attempt of it did");
  }
  const bool may_be_tried_anywhere =
      *cohort.failed_by != FailureKind::kConfig &&
      *cohort.failed_by != FailureKind::kData &&
      *cohort.failed_by != FailureKind::kOom;
  if (may_be_tried_anywhere && !cohort.IsUsedUp() &&
      !sweeps_.at(change.trial.cell.sweep).stopped) {
    Fail("trial " + ToText(change.trial) +
         " failed with tries left: " + change.reason);
  }
}

void FailureAccount::On(const storage::StartAttempt& change) {
  const AttemptKey& key = change.attempt.key;
  const std::string what =
      "attempt " + ToText(key) + " starts on node " + change.attempt.node;
  CohortAccount& cohort = cohorts_.at(key.cohort);
  const SweepAccount& sweep = sweeps_.at(key.cohort.cell.sweep);
  if (sweep.is_over_limit || sweep.stopped) {
    Fail(what + " though its sweep has reached a limit of failures");
  }
  if (cohort.IsUsedUp()) Fail(what + " and has no try left");
  if (cohort.memory_tried > 0 &&
      memory_[change.attempt.node] <= cohort.memory_tried) {
    Fail(what + ", which has no more memory than it ran out of");
  }
  NodeAccount& node = nodes_[change.attempt.node];
  if (node.stored.quarantined) {
    if (!node.canaries.empty()) {
      Fail(what + ", which is in quarantine and has canary " +
           ToText(*node.canaries.begin()));
    }
    node.canaries.insert(key);
  }
  cohort.attempts = key.number;
  cohort.failed_by.reset();
  attempts_[key].node = change.attempt.node;
}

void FailureAccount::On(const storage::Acknowledge& change) {
  AttemptAccount& attempt = attempts_.at(change.attempt);
  attempt.step = std::max(attempt.step, change.step);
  did_well_.insert(attempt.node);
}

void FailureAccount::On(const storage::EndAttempt& change) {
  const AttemptAccount& attempt = attempts_.at(change.attempt);
  CohortAccount& cohort = cohorts_.at(change.attempt.cohort);
  NodeAccount& node = nodes_[attempt.node];
  ended_.insert(change.attempt.cohort);
  const bool counts = change.outcome == AttemptOutcome::kFailed ||
                      change.outcome == AttemptOutcome::kSuperseded;
  if (counts) {
    cohort.owes_standing = true;
    if (attempt.step > cohort.furthest_step) {
      cohort.furthest_step = attempt.step;
      cohort.failures_in_row = 0;
    }
  }
  if (change.outcome == AttemptOutcome::kFailed) {
    CountFailure(change, cohort);
    if (IsHeldAgainstNode(*change.kind)) HoldAgainst(change, node);
  }
  if (change.outcome == AttemptOutcome::kSucceeded) {
    did_well_.insert(attempt.node);
  }
  node.canaries.erase(change.attempt);
}

void FailureAccount::CountFailure(const storage::EndAttempt& end,
                                  CohortAccount& cohort) {
  const std::string& node = attempts_.at(end.attempt).node;
  cohort.failed_by = end.kind;
  if (UsesTry(*end.kind)) {
    ++cohort.failures;
    ++cohort.failures_in_row;
  }
  if (end.kind == FailureKind::kOom) {
    cohort.memory_tried = std::max(cohort.memory_tried, memory_[node]);
  }
  if (IsHeldAgainstNode(*end.kind)) cohort.hit_on.insert(node);
}

void FailureAccount::HoldAgainst(const storage::EndAttempt& end,
                                 NodeAccount& node) {
  if (node.stored.quarantined) {
    if (node.canaries.contains(end.attempt)) ++node.failed_canaries;
    return;
  }
  node.row.push_back(end.attempt);
  if (std::ssize(node.row) > kQuarantineAfter) node.row.erase(node.row.begin());
  if (node.stored.undecided) return;
  node.must_close = end.kind == FailureKind::kDevice ||
                    (std::ssize(node.row) == kQuarantineAfter &&
                     AreOfSeveralCohorts(node.row));
}

void FailureAccount::On(const storage::SetStanding& change) {
  CohortAccount& own = cohorts_.at(change.cohort.id);
  const storage::CohortRecord& said = change.cohort;
  if (said.spared == own.spared + 1) {
    given_back_to_.insert(said.id);
    ++own.spared;
    --own.failures;
    own.failures_in_row = std::max<int64_t>(own.failures_in_row - 1, 0);
  }
  if (own.spared > kTriesInTotal) {
    Fail("cohort " + ToText(said.id) + " was spared too often");
  }
  const std::string account =
      Standing(own.failures, own.failures_in_row, own.furthest_step, own.spared,
               own.memory_tried);
  const std::string stored =
      Standing(said.failures, said.failures_in_row, said.furthest_step,
               said.spared, said.memory_tried);
  if (account != stored) {
    Fail("cohort " + ToText(said.id) + " is stored with " + stored +
         ", and had " + account);
  }
  own.owes_standing = false;
  own.stored = said;
}

void FailureAccount::On(const storage::StopSweep& change) {
  SweepAccount& sweep = sweeps_.at(change.sweep);
  if (!sweep.is_over_limit) {
    Fail("sweep " + ToText(change.sweep) +
         " was stopped within its limits: " + change.because);
  }
  sweep.stopped = true;
  sweep.record.stopped_because = change.because;
  touched_.insert(change.sweep);
}

void FailureAccount::On(const storage::SetNode& change) {
  const storage::NodeRecord& said = change.node;
  NodeAccount& own = nodes_[said.name];
  const bool was_closed = own.stored.quarantined;
  if (own.must_close != (said.quarantined && !was_closed)) {
    Fail("node " + said.name +
         (own.must_close ? " is not put into quarantine"
                         : " is put into quarantine for no reason"));
  }
  own.must_close = false;
  if (said.quarantined) {
    closed_.insert(said.name);
    own.row.clear();
    if (!was_closed) own.failed_canaries = 0;
  } else {
    if (was_closed && !(said.undecided && !own.stored.undecided &&
                        own.failed_canaries >= kQuarantineAfter)) {
      reopened_.insert(said.name);
    }
    if (said.failures.empty() && !own.row.empty()) reopened_.insert(said.name);
    if (said.failures.empty()) own.row.clear();
    own.canaries.clear();
  }
  if (said.failures != own.row) {
    Fail("node " + said.name + " is stored with other failures than it had");
  }
  own.stored = said;
}

/// What follows from an end is part of its transaction.
void FailureAccount::DemandDue() {
  for (const auto& [name, node] : nodes_) {
    if (node.must_close) Fail("node " + name + " is not put into quarantine");
  }
  for (const CohortId& id : ended_) {
    if (cohorts_.at(id).owes_standing) {
      Fail("an attempt of cohort " + ToText(id) +
           " ended and its standing is not stored");
    }
  }
  for (const SweepId& id : touched_) {
    const SweepAccount& sweep = sweeps_.at(id);
    if (sweep.is_over_limit && !sweep.stopped) {
      Fail("sweep " + ToText(id) + " goes on beyond its limits of failures");
    }
    if (sweep.stopped && sweep.open > 0 &&
        sweep.record.on_failures == OnFailures::kStop) {
      Fail("sweep " + ToText(id) + " was stopped and has trials left");
    }
  }
}

void FailureAccount::DemandReasonToReopen() const {
  for (const std::string& name : reopened_) {
    if (!did_well_.contains(name)) {
      Fail("what was held against node " + name + " is gone for no reason");
    }
  }
  for (const CohortId& id : given_back_to_) {
    const bool some_is_to_blame = std::ranges::any_of(
        cohorts_.at(id).hit_on, [this](const std::string& node) {
          return closed_.contains(node) || nodes_.at(node).stored.quarantined;
        });
    if (!some_is_to_blame) {
      Fail("cohort " + ToText(id) + " got a try back, and no node is to blame");
    }
  }
}

void FailureAccount::OnLoaded(const storage::Store& store) const {
  std::map<std::string, storage::NodeRecord> held;
  for (const auto& [name, node] : nodes_) {
    if (!node.stored.name.empty() && !node.stored.IsClean()) {
      held[name] = node.stored;
    }
  }
  const auto nodes = store.LoadNodes();
  if (!nodes.ok()) Fail(std::string(nodes.status().message()));
  for (const storage::NodeRecord& node : *nodes) {
    const auto own = held.find(node.name);
    if (own == held.end() || own->second != node) {
      Fail("what is held against node " + node.name +
           " is not stored as it was committed");
    }
    held.erase(own);
  }
  if (!held.empty()) {
    Fail("what is held against node " + held.begin()->first + " is not stored");
  }
  for (const auto& [id, own] : sweeps_) {
    const auto loaded = store.LoadSweep(id);
    if (!loaded.ok()) Fail(std::string(loaded.status().message()));
    if (loaded->sweep.failures_in_row != own.failed_in_row ||
        loaded->sweep.stopped_because != own.record.stopped_because) {
      Fail("the failures of sweep " + ToText(id) +
           " are not stored as they were committed");
    }
    for (const storage::CohortRecord& cohort : loaded->cohorts) {
      storage::CohortRecord committed = cohorts_.at(cohort.id).stored;
      committed.attempts = cohorts_.at(cohort.id).attempts;
      if (committed != cohort) {
        Fail("the standing of cohort " + ToText(cohort.id) +
             " is not stored as it was committed");
      }
    }
  }
}

}  // namespace leadline::simulation
