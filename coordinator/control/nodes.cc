#include "coordinator/control/nodes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/attempts.h"
#include "coordinator/control/parts.h"
#include "errors/error_code.h"

namespace leadline::control {
namespace {

SteadyTime::duration InSteady(Seconds seconds) {
  return std::chrono::duration_cast<SteadyTime::duration>(seconds);
}

/// Those of which it holds ranks. A copy: what is done with them changes the
/// set.
std::vector<AttemptKey> LiveOn(State& state, const std::string& node) {
  std::vector<AttemptKey> keys;
  for (const CohortId& id : state.live) {
    const LiveAttempt& live = *state.FindCohort(id)->live;
    const LivePart* part = live.PartOn(node);
    if (part && !part->has_ended) keys.push_back(live.record.key);
  }
  return keys;
}

void MoveHeldTrials(Step& step, const AttemptKey& key, TrialState to,
                    const std::string& reason) {
  for (const storage::TrialRecord& trial :
       TrialsWhere(*step.state.FindCohort(key.cohort), IsHeld)) {
    if (trial.state != to && IsLegalMove(trial.state, to)) {
      step.Move(trial, to, reason);
    }
  }
}

/// With one of its parts all of it is.
void MakeUnreachable(Step& step, const AttemptKey& key, LivePart& part,
                     const std::string& reason) {
  LiveAttempt& live = *step.state.FindLive(key);
  part.is_heard = false;
  live.tokens_per_second = 0;
  MoveHeldTrials(step, key, TrialState::kUnreachable, reason);
}

bool IsUnreachable(const Cohort& cohort) {
  return std::any_of(
      cohort.trials.begin(), cohort.trials.end(),
      [](const auto& t) { return t.state == TrialState::kUnreachable; });
}

/// Renews the lease of the part; whatever was unreachable runs again once all
/// parts are heard.
void Renew(Step& step, const AttemptKey& key, LivePart& part) {
  part.renewed = step.now.steady;
  part.is_heard = true;
  if (step.state.FindLive(key)->AllHeard() &&
      IsUnreachable(*step.state.FindCohort(key.cohort))) {
    MoveHeldTrials(step, key, TrialState::kRunning, "");
  }
}

void TakeIn(Step& step, const NodeRegistered& command) {
  Node& node = step.state.nodes[command.node];
  node.name = command.node;
  node.instance = command.instance;
  node.session = command.session;
  node.connection = step.now;
  node.agent = command.agent;
  node.takes_gangs = command.takes_gangs;
  node.heard = step.now.steady;
  node.devices = command.devices;
  node.rival.reset();
  node.held.clear();
  node.late_records.clear();
  step.state.sessions[command.session] = command.node;
  if (!step.state.served_since) step.state.served_since = step.now.steady;
  step.state.must_place = true;
}

/// What it holds of live attempts goes on; all else it is told to end.
std::set<AttemptKey> TakeBack(Step& step, const NodeRegistered& command,
                              WelcomeOrder& welcome) {
  Node& node = *step.state.FindNode(command.session);
  std::set<AttemptKey> goes_on;
  for (const HeldAttempt& held : command.attempts) {
    const LiveAttempt* live = step.state.FindLive(held.key, command.session);
    if (!live) {
      node.held[held.key] = held.devices;
      welcome.superseded.push_back(held.key);
      continue;
    }
    LivePart& part = *step.state.FindPart(held.key, command.session);
    node.held[held.key] = part.devices;
    // Of other parts the coordinator has no records.
    welcome.acknowledged.emplace_back(
        held.key, part.first_rank == 0 ? live->record.last_sequence : 0);
    goes_on.insert(held.key);
    Renew(step, held.key, part);
  }
  return goes_on;
}

void Admit(Step& step, const NodeRegistered& command) {
  TakeIn(step, command);
  WelcomeOrder welcome;
  welcome.node = command.node;
  welcome.lease_seconds = step.policy.lease.count();
  welcome.heartbeat_seconds = step.policy.heartbeat.count();
  const std::set<AttemptKey> goes_on = TakeBack(step, command, welcome);
  for (const AttemptKey& key : LiveOn(step.state, command.node)) {
    if (!goes_on.contains(key)) {
      step.state.FindPart(key, command.session)->is_lost = true;
      Supersede(step, key,
                "agent " + command.node + " came back without attempt " +
                    ToText(key));
    }
  }
  step.Tell(command.session, std::move(welcome));
  for (const AttemptKey& key : goes_on) {
    const LiveAttempt* live = step.state.FindLive(key);
    if (live && !live->record.stop_reason.empty()) {
      step.Tell(command.session, StopOrder{key, live->record.stop_reason});
    }
  }
}

void Refuse(Step& step, SessionId session, const std::string& node) {
  step.Tell(session,
            CloseOrder{WithError(
                absl::FailedPreconditionError(
                    "another live agent is registered as node " + node +
                    "; stop it or give this one another name with --node"),
                ErrorCode::kNameTaken)});
}

/// Forgets the stream; a rival that waited takes the node over.
void Disconnect(Step& step, Node& node, const std::string& reason) {
  step.state.sessions.erase(*node.session);
  node.session.reset();
  node.lost_at = step.now.steady;
  if (step.state.sessions.empty()) {
    step.state.served_since.reset();
    step.state.agents_may_return = true;
  }
  step.state.must_place = true;
  for (const AttemptKey& key : LiveOn(step.state, node.name)) {
    MakeUnreachable(step, key, *step.state.FindLive(key)->PartOn(node.name),
                    reason);
  }
  if (node.rival) {
    const NodeRegistered rival = *std::exchange(node.rival, std::nullopt);
    Admit(step, rival);
  }
}

/// True if the attempt has ended for it.
bool CheckLease(Step& step, const AttemptKey& key, LivePart& part) {
  const SteadyTime::duration silent = step.now.steady - part.renewed;
  const std::string node = part.node;
  if (part.has_ended || silent <= InSteady(step.policy.lease)) return false;
  if (silent <= InSteady(step.policy.lease + step.policy.grace)) {
    MakeUnreachable(step, key, part, "node " + node + " is not heard");
    return false;
  }
  if (step.state.FindLive(key)->parts.size() == 1) {
    TellNode(step, node, StopOrder{key, "its lease was not renewed"});
  }
  Supersede(step, key, "agent_lost: node " + node + " was not heard in time");
  return true;
}

void CheckLeases(Step& step, const AttemptKey& key) {
  for (LivePart& part : step.state.FindLive(key)->parts) {
    if (CheckLease(step, key, part)) return;
  }
}

}  // namespace

void Apply(Step& step, const NodeRegistered& command) {
  const auto found = step.state.nodes.find(command.node);
  if (found == step.state.nodes.end() || !found->second.session) {
    return Admit(step, command);
  }
  Node& node = found->second;
  const SessionId old = *node.session;
  if (node.instance == command.instance ||
      node.instance == command.previous_instance) {
    // Its old stream, or that of the agent it took the state folder over from,
    // is dead, though that was not noticed yet.
    step.state.sessions.erase(old);
    step.Tell(
        old,
        CloseOrder{absl::AbortedError("the agent has opened another stream")});
    if (node.rival) {
      Refuse(step, node.rival->session, node.name);
      node.rival.reset();
    }
    return Admit(step, command);
  }
  if (node.rival) Refuse(step, node.rival->session, node.name);
  node.rival = command;
}

void Apply(Step& step, const NodeLost& command) {
  for (auto& [name, node] : step.state.nodes) {
    if (node.rival && node.rival->session == command.session) {
      node.rival.reset();
    }
  }
  if (Node* node = step.state.FindNode(command.session)) {
    Disconnect(step, *node, "the connection to node " + node->name + " ended");
  }
}

void Apply(Step& step, const Heartbeat& command) {
  Node* node = step.state.FindNode(command.session);
  if (!node) return;
  node->heard = step.now.steady;
  if (node->rival) {
    Refuse(step, node->rival->session, node->name);
    node->rival.reset();
  }
  RenewalOrder renewal{command.number, {}};
  for (const AttemptKey& key : command.attempts) {
    if (const auto* live = step.state.FindLive(key, command.session)) {
      Renew(step, key, *step.state.FindPart(key, command.session));
      renewal.attempts.push_back(key);
      // The order may have been lost; one that is known changes nothing.
      if (!live->record.stop_reason.empty()) {
        step.Tell(command.session, StopOrder{key, live->record.stop_reason});
      }
    } else {
      step.Tell(command.session, StopOrder{key, "it counts no more"});
    }
  }
  step.Tell(command.session, std::move(renewal));
}

void CheckLeases(Step& step) {
  std::vector<std::string> silent;
  for (const auto& [name, node] : step.state.nodes) {
    if (node.session &&
        step.now.steady - node.heard > InSteady(step.policy.lease)) {
      silent.push_back(name);
    }
  }
  for (const std::string& name : silent) {
    Node& node = step.state.nodes.at(name);
    step.Tell(*node.session,
              CloseOrder{absl::DeadlineExceededError(
                  "no heartbeat of node " + name + " within its lease")});
    Disconnect(step, node, "node " + name + " is not heard");
  }
  const std::vector<CohortId> live(step.state.live.begin(),
                                   step.state.live.end());
  for (const CohortId& id : live) {
    CheckLeases(step, AttemptKey(step.state.FindCohort(id)->live->record.key));
  }
}

void MakeAllUnreachable(Step& step, const std::string& reason) {
  const std::vector<CohortId> live(step.state.live.begin(),
                                   step.state.live.end());
  for (const CohortId& id : live) {
    LiveAttempt& attempt = *step.state.FindCohort(id)->live;
    for (LivePart& part : attempt.parts) {
      MakeUnreachable(step, AttemptKey(attempt.record.key), part, reason);
    }
  }
}

}  // namespace leadline::control
