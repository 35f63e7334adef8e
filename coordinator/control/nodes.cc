#include "coordinator/control/nodes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/attempts.h"
#include "coordinator/control/pausing.h"
#include "errors/error_code.h"

namespace leadline::control {
namespace {

SteadyTime::duration InSteady(Seconds seconds) {
  return std::chrono::duration_cast<SteadyTime::duration>(seconds);
}

/// A copy: what is done with them changes the set.
std::vector<AttemptKey> LiveOn(State& state, const std::string& node) {
  std::vector<AttemptKey> keys;
  for (const CohortId& id : state.live) {
    const LiveAttempt& live = *state.FindCohort(id)->live;
    if (live.record.node == node) keys.push_back(live.record.key);
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

void MakeUnreachable(Step& step, const AttemptKey& key,
                     const std::string& reason) {
  LiveAttempt& live = *step.state.FindLive(key);
  live.tokens_per_second = 0;
  MoveHeldTrials(step, key, TrialState::kUnreachable, reason);
}

bool IsUnreachable(const Cohort& cohort) {
  return std::any_of(
      cohort.trials.begin(), cohort.trials.end(),
      [](const auto& t) { return t.state == TrialState::kUnreachable; });
}

/// Renews the lease; whatever was unreachable runs again.
void Renew(Step& step, const AttemptKey& key) {
  step.state.FindLive(key)->renewed = step.now.steady;
  if (IsUnreachable(*step.state.FindCohort(key.cohort))) {
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
    node.held[held.key] = live->record.devices;
    welcome.acknowledged.emplace_back(held.key, live->record.last_sequence);
    goes_on.insert(held.key);
    Renew(step, held.key);
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
      Supersede(step, key,
                "agent " + command.node + " came back without attempt " +
                    ToText(key));
    }
  }
  step.Tell(command.session, std::move(welcome));
  for (const AttemptKey& key : goes_on) {
    const LiveAttempt* live = step.state.FindLive(key);
    if (live && !live->record.stop_reason.empty()) TellToStop(step, *live);
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
    MakeUnreachable(step, key, reason);
  }
  if (node.rival) {
    const NodeRegistered rival = *std::exchange(node.rival, std::nullopt);
    Admit(step, rival);
  }
}

void CheckLease(Step& step, const AttemptKey& key) {
  const LiveAttempt& live = *step.state.FindLive(key);
  const SteadyTime::duration silent = step.now.steady - live.renewed;
  const std::string node = live.record.node;
  if (silent <= InSteady(step.policy.lease)) return;
  if (silent <= InSteady(step.policy.lease + step.policy.grace)) {
    MakeUnreachable(step, key, "node " + node + " is not heard");
    return;
  }
  const auto found = step.state.nodes.find(node);
  if (found != step.state.nodes.end() && found->second.session) {
    step.Tell(*found->second.session,
              StopOrder{key, "its lease was not renewed"});
  }
  Supersede(step, key, "agent_lost: node " + node + " was not heard in time");
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
      Renew(step, key);
      renewal.attempts.push_back(key);
      // The order may have been lost; one that is known changes nothing.
      if (!live->record.stop_reason.empty()) TellToStop(step, *live);
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
    CheckLease(step, AttemptKey(step.state.FindCohort(id)->live->record.key));
  }
}

void MakeAllUnreachable(Step& step, const std::string& reason) {
  const std::vector<CohortId> live(step.state.live.begin(),
                                   step.state.live.end());
  for (const CohortId& id : live) {
    MakeUnreachable(
        step, AttemptKey(step.state.FindCohort(id)->live->record.key), reason);
  }
}

}  // namespace leadline::control
