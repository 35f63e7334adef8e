// What the account of failures demands.

#include <algorithm>
#include <utility>

#include "failure_account.h"
#include "violation.h"

namespace leadline::simulation {
namespace {

[[noreturn]] void Fail(const std::string& what) { throw Violation(what); }

}  // namespace

void FailureAccount::DemandReasonToFail(
    const storage::MoveTrial& change) const {
  const CohortId id = cohort_of_.at(change.trial);
  const CohortAccount& cohort = cohorts_.at(id);
  if (change.from == TrialState::kQueued) {
    return DemandNoBetterNode(change, cohort);
  }
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

/// It failed while it waited: then nobody that is there could have held it.
void FailureAccount::DemandNoBetterNode(const storage::MoveTrial& change,
                                        const CohortAccount& cohort) const {
  const bool by_data = cohort.failed_by == FailureKind::kData;
  if (!by_data && cohort.memory_tried == 0) {
    Fail("trial " + ToText(change.trial) +
         " failed while it waited: " + change.reason);
  }
  // What several nodes could hold together is the scheduler's own test.
  if (cohort.ranks > 1) return;
  for (const auto& [node, streams] : registered_) {
    if (streams <= 0 || (by_data && std::ranges::binary_search(
                                        cohort.stored.failed_nodes, node))) {
      continue;
    }
    if (memory_.at(node) > cohort.memory_tried || cohort.memory_tried == 0) {
      Fail("trial " + ToText(change.trial) + " failed while it waited, and " +
           node + " could have held it");
    }
  }
}

/// What follows from an end is part of its transaction.
void FailureAccount::DemandDue() {
  for (const auto& [name, node] : nodes_) {
    if (node.must_close) Fail("node " + name + " is not put into quarantine");
  }
  for (const CohortId& id : forgotten_) {
    if (!retried_.contains(id)) {
      Fail("the tries of cohort " + ToText(id) + " are forgotten");
    }
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
    if (sweep.stopped && sweep.open > 0 && sweep.errands == 0 &&
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
