#include "coordinator/control/quarantine.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "coordinator/control/candidates.h"

namespace leadline::control {
namespace {

SteadyTime::duration InSteady(Seconds seconds) {
  return std::chrono::duration_cast<SteadyTime::duration>(seconds);
}

int64_t CountCohorts(const std::vector<AttemptKey>& attempts) {
  std::set<CohortId> cohorts;
  for (const AttemptKey& key : attempts) cohorts.insert(key.cohort);
  return std::ssize(cohorts);
}

void BeginQuarantine(Step& step, storage::NodeRecord& record,
                     const std::string& why) {
  const auto count = std::ssize(record.failures);
  record.quarantined = true;
  record.reason =
      count > 1 ? std::to_string(count) + " failures in a row, the last: " + why
                : why;
  ++record.rounds;
  record.failed_canaries = 0;
  record.canary.reset();
  for (const AttemptKey& hit : std::exchange(record.failures, {})) {
    GiveBack(step, hit);
  }
}

/// A canary failed too. Where nothing tells the machine from the code, it
/// counts; after several the node takes all work again, so that a sweep ends.
void NoteFailedCanary(Step& step, storage::NodeRecord& record,
                      const EndedAttempt& ended, const std::string& why) {
  record.canary.reset();
  record.reason = "its canary failed too: " + why;
  ++record.rounds;
  ++record.failed_canaries;
  if (HasComparison(step, record.name,
                    *step.state.FindCohort(ended.key.cohort))) {
    GiveBack(step, ended.key);
  } else if (record.failed_canaries >= step.policy.quarantine_after) {
    record.quarantined = false;
    record.reason.clear();
    record.undecided = true;
    record.failed_canaries = 0;
  }
}

bool IsReason(const Policy& policy, const storage::NodeRecord& record,
              Blame blame) {
  if (record.undecided || policy.quarantine_after == 0) return false;
  if (blame == Blame::kAtOnce) return true;
  // One cohort alone may as well be broken itself.
  return std::ssize(record.failures) >= policy.quarantine_after &&
         CountCohorts(record.failures) > 1;
}

}  // namespace

void HoldAgainst(Step& step, const EndedAttempt& ended, FailureKind kind,
                 const std::string& message) {
  Node& node = step.state.nodes[ended.node];
  storage::NodeRecord record = node.record;
  record.name = ended.node;
  const std::string why = std::string(Name(kind)) + ": " + message;
  if (record.quarantined && record.canary == ended.key) {
    NoteFailedCanary(step, record, ended, why);
  } else if (record.quarantined) {
    GiveBack(step, ended.key);
    return;
  } else {
    record.failures.push_back(ended.key);
    const auto most =
        static_cast<size_t>(std::max<int64_t>(step.policy.quarantine_after, 1));
    if (record.failures.size() > most) {
      record.failures.erase(record.failures.begin());
    }
    if (IsReason(step.policy, record, PolicyOf(kind).blame)) {
      BeginQuarantine(step, record, why);
    }
  }
  step.Do(storage::SetNode{std::move(record)});
  StartWait(step.policy, node, step.now.steady);
}

void NoteEnd(Step& step, const EndedAttempt& ended) {
  for (const std::string& name : ended.nodes) {
    const auto found = step.state.nodes.find(name);
    if (found == step.state.nodes.end()) continue;
    Node& node = found->second;
    if (node.record.canary != ended.key) continue;
    storage::NodeRecord record = node.record;
    record.canary.reset();
    step.Do(storage::SetNode{std::move(record)});
    StartWait(step.policy, node, step.now.steady);
  }
}

void NoteSuccess(Step& step, const std::string& name) {
  std::vector<storage::NodeRecord> better;
  for (const auto& [other, node] : step.state.nodes) {
    if (other == name && !node.record.IsClean()) {
      better.emplace_back().name = name;
    } else if (other != name && node.record.undecided) {
      // The code can run, as this attempt has shown.
      better.push_back(node.record);
      better.back().undecided = false;
    }
  }
  for (storage::NodeRecord& record : better) {
    step.Do(storage::SetNode{std::move(record)});
  }
}

void NoteHealth(Step& step, const std::string& name) {
  const auto found = step.state.nodes.find(name);
  if (found == step.state.nodes.end()) return;
  const storage::NodeRecord& record = found->second.record;
  if (!record.quarantined && record.failures.empty()) return;
  storage::NodeRecord better;
  better.name = name;
  better.rounds = record.rounds;
  better.undecided = record.undecided;
  step.Do(storage::SetNode{std::move(better)});
}

void NoteStart(Step& step, const std::string& name, const AttemptKey& attempt) {
  const Node& node = step.state.nodes.at(name);
  if (!node.record.quarantined) return;
  storage::NodeRecord record = node.record;
  record.canary = attempt;
  step.Do(storage::SetNode{std::move(record)});
}

std::string WhyClosed(const Node& node, SteadyTime now) {
  if (!node.record.quarantined) return "";
  std::string why =
      "node " + node.name + " is quarantined (" + node.record.reason + "); ";
  if (node.record.canary) {
    return why + "attempt " + ToText(*node.record.canary) +
           " shows whether it is well again";
  }
  const Seconds left = node.closed_until - now;
  if (left <= Seconds{0}) return why + "one attempt is tried there first";
  return why + "one attempt is tried there in " +
         std::to_string(static_cast<int64_t>(std::ceil(left.count()))) + " s";
}

bool TakesCanary(const Node& node, SteadyTime now) {
  return node.record.quarantined && !node.record.canary &&
         node.closed_until <= now;
}

void StartWait(const Policy& policy, Node& node, SteadyTime now) {
  if (!node.record.quarantined) return;
  const double doublings =
      static_cast<double>(std::clamp<int64_t>(node.record.rounds - 1, 0, 30));
  node.closed_until =
      now + InSteady(std::min(policy.first_quarantine * std::pow(2, doublings),
                              policy.longest_quarantine));
}

}  // namespace leadline::control
