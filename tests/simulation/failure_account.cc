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

void FailureAccount::CohortAccount::Forget() {
  failures = failures_in_row = furthest_step = spared = memory_tried = 0;
  failed_by.reset();
  failed_on.clear();
  // What is held against nodes stands: it may give a try back after all.
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
  forgotten_.clear();
  // What was retried beside a live attempt gets its tries once that has ended.
  std::erase_if(retried_,
                [this](const CohortId& id) { return !cohorts_.at(id).live; });
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
  }
}

void FailureAccount::On(const storage::MoveTrial& change) {
  SweepAccount& sweep = sweeps_.at(change.trial.cell.sweep);
  touched_.insert(change.trial.cell.sweep);
  if (IsEnded(change.from)) TakeBack(change);
  if (IsEnded(change.to)) --sweep.open;
  if (change.to == TrialState::kFailed) {
    DemandReasonToFail(change);
    ++sweep.failed;
    ++sweep.failed_in_row;
  } else if (change.to == TrialState::kSucceeded ||
             change.to == TrialState::kDiverged) {
    sweep.failed_in_row = 0;
  }
  if (change.to != TrialState::kFailed) return;
  const storage::SweepRecord& limits = sweep.record;
  if ((limits.failure_limit && sweep.failed >= *limits.failure_limit) ||
      (limits.failure_row_limit &&
       sweep.failed_in_row >= *limits.failure_row_limit)) {
    sweep.is_over_limit = true;
  }
}

/// People queued it again after its end.
void FailureAccount::TakeBack(const storage::MoveTrial& change) {
  const CohortId id = cohort_of_.at(change.trial);
  SweepAccount& sweep = sweeps_.at(change.trial.cell.sweep);
  ++sweep.open;
  if (change.from == TrialState::kFailed) --sweep.failed;
  sweep.failed_in_row = 0;
  sweep.is_over_limit = sweep.stopped = false;
  sweep.record.stopped_because.clear();
  retried_.insert(id);
  const CohortAccount& cohort = cohorts_.at(id);
  if (!cohort.live && cohort.IsUsedUp()) {
    Fail("trial " + ToText(change.trial) + " is retried and has no try");
  }
}

std::string FailureAccount::BlamedNode(const storage::EndAttempt& end,
                                       const AttemptAccount& attempt) {
  if (attempt.nodes.size() == 1) return attempt.nodes.front();
  if (end.kind == FailureKind::kNccl || end.kind == FailureKind::kNcclInit) {
    return "";
  }
  for (const std::string& node : attempt.nodes) {
    if (end.message.starts_with("on node " + node + ": ")) return node;
  }
  Fail("attempt " + ToText(end.attempt) +
       " failed and nobody says on which node: " + end.message);
}

void FailureAccount::On(const storage::StartAttempt& change) {
  const AttemptKey& key = change.attempt.key;
  AttemptAccount& attempt = attempts_[key];
  std::set<std::string> names;
  attempt.ranks = std::ssize(change.attempt.ranks);
  bool is_known = true;
  for (const storage::RankRecord& rank : change.attempt.ranks) {
    names.insert(rank.node);
    attempt.memory += memory_[rank.node];
    is_known = is_known && memory_[rank.node] > 0;
  }
  if (!is_known) attempt.memory = 0;
  attempt.nodes.assign(names.begin(), names.end());
  const std::string what =
      "attempt " + ToText(key) + " starts on node " + change.attempt.node;
  CohortAccount& cohort = cohorts_.at(key.cohort);
  const SweepAccount& sweep = sweeps_.at(key.cohort.cell.sweep);
  if (sweep.is_over_limit || sweep.stopped) {
    Fail(what + " though its sweep has reached a limit of failures");
  }
  if (cohort.IsUsedUp()) Fail(what + " and has no try left");
  if (cohort.memory_tried > 0 && attempt.memory <= cohort.memory_tried) {
    Fail(what + ", which has no more memory than it ran out of");
  }
  for (const std::string& name : attempt.nodes) {
    NodeAccount& node = nodes_[name];
    if (node.stored.quarantined) {
      if (!node.canaries.empty()) {
        Fail(what + ", where " + name + " is in quarantine and has canary " +
             ToText(*node.canaries.begin()));
      }
      node.canaries.insert(key);
    }
    if (cohort.failed_by == FailureKind::kData && cohort.failed_on == name) {
      Fail(what + ", where it has not found its data");
    }
  }
  cohort.attempts = key.number;
  cohort.failed_by.reset();
  cohort.live = true;
}

void FailureAccount::On(const storage::Acknowledge& change) {
  AttemptAccount& attempt = attempts_.at(change.attempt);
  attempt.step = std::max(attempt.step, change.step);
  did_well_.insert(attempt.nodes.begin(), attempt.nodes.end());
}

void FailureAccount::On(const storage::EndAttempt& change) {
  const AttemptAccount& attempt = attempts_.at(change.attempt);
  CohortAccount& cohort = cohorts_.at(change.attempt.cohort);
  ended_.insert(change.attempt.cohort);
  cohort.live = false;
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
    const std::string blamed = BlamedNode(change, attempt);
    if (IsHeldAgainstNode(*change.kind) && !blamed.empty()) {
      HoldAgainst(change, nodes_[blamed]);
    }
  }
  if (change.outcome == AttemptOutcome::kSucceeded) {
    did_well_.insert(attempt.nodes.begin(), attempt.nodes.end());
  }
  for (const std::string& name : attempt.nodes) {
    nodes_[name].canaries.erase(change.attempt);
  }
}

void FailureAccount::CountFailure(const storage::EndAttempt& end,
                                  CohortAccount& cohort) {
  const AttemptAccount& attempt = attempts_.at(end.attempt);
  const std::string node = BlamedNode(end, attempt);
  cohort.failed_by = end.kind;
  cohort.failed_on = node;
  if (UsesTry(*end.kind)) {
    ++cohort.failures;
    ++cohort.failures_in_row;
  }
  if (end.kind == FailureKind::kOom) {
    cohort.memory_tried = std::max(cohort.memory_tried, attempt.memory);
  }
  cohort.ranks = attempt.ranks;
  if (IsHeldAgainstNode(*end.kind) && !node.empty()) cohort.hit_on.insert(node);
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
  storage::CohortRecord fresh;
  fresh.id = said.id;
  fresh.attempts = said.attempts;
  if (said == fresh) {
    forgotten_.insert(said.id);
    own.Forget();
  }
  if (said.spared == own.spared + 1) {
    given_back_to_.insert(said.id);
    ++own.spared;
    --own.failures;
    own.failures_in_row = std::max<int64_t>(own.failures_in_row - 1, 0);
  }
  if (own.spared > kTriesInTotal) {
    Fail("cohort " + ToText(said.id) + " was spared too often");
  }
  // After a restart not all nodes of several ranks may be known.
  if (own.ranks > 1) own.memory_tried = said.memory_tried;
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

}  // namespace leadline::simulation
