#include "coordinator/control/parts.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/control/attempts.h"

namespace leadline::control {
namespace {

/// Said by ranks of the others: somewhere something else went wrong first.
bool IsConsequence(FailureKind kind) {
  return kind == FailureKind::kNccl || kind == FailureKind::kNcclInit;
}

std::vector<std::string> AllAddresses(const LiveAttempt& live) {
  std::vector<std::string> all;
  for (const LivePart& part : live.parts) {
    all.insert(all.end(), part.addresses.begin(), part.addresses.end());
  }
  return all;
}

bool AreKnown(const std::vector<std::string>& addresses) {
  return std::ranges::none_of(addresses, &std::string::empty);
}

/// To one part, or to all of them that live.
void TellRendezvous(Step& step, const LiveAttempt& live, const LivePart* one,
                    const std::vector<std::string>& peers) {
  for (const LivePart& part : live.parts) {
    if (part.has_ended || (one && one != &part)) continue;
    TellNode(step, part.node, RendezvousOrder{live.record.key, peers});
  }
}

void NotePids(Step& step, const LiveAttempt& live, const LivePart& part,
              const std::vector<StartedRank>& started) {
  storage::SetRankPids set{live.record.key, {}};
  const int64_t last =
      std::min(part.first_rank + part.ranks, std::ssize(live.record.ranks));
  for (const StartedRank& one : started) {
    if (one.rank < part.first_rank || one.rank >= last || one.pid <= 0) {
      continue;
    }
    if (live.record.ranks[static_cast<size_t>(one.rank)].pid != one.pid) {
      set.pids.push_back({one.rank, one.pid});
    }
  }
  if (!set.pids.empty()) step.Do(std::move(set));
}

void TakeAddresses(Step& step, LiveAttempt& live, LivePart& part,
                   const std::vector<StartedRank>& started) {
  const std::vector<std::string> before = AllAddresses(live);
  for (const StartedRank& one : started) {
    const int64_t place = one.rank - part.first_rank;
    if (place < 0 || place >= std::ssize(part.addresses)) continue;
    part.addresses[static_cast<size_t>(place)] = one.address;
  }
  const std::vector<std::string> all = AllAddresses(live);
  if (!AreKnown(all)) return;
  TellRendezvous(step, live, all == before ? &part : nullptr, all);
}

/// Ends the attempt: this is why.
void Conclude(Step& step, const AttemptKey& key, FailureKind kind,
              const std::string& message, const std::string& node) {
  const std::string text = "on node " + node + ": " + message;
  if (kind == FailureKind::kAgentLost) {
    // No fault of its own: it does not use up a try.
    return Supersede(step, key, "agent_lost " + text);
  }
  // Who notices that others are gone is not to blame.
  FailAttempt(step, key, kind, text, IsConsequence(kind) ? "" : node);
}

/// Why the attempt must end now that this part has, or null if it may go on.
/// With the last part it always must.
std::optional<Verdict> WhyOver(const AttemptEnded& command,
                               const LiveAttempt& live, const LivePart& part) {
  const bool is_first = part.first_rank == 0;
  const bool failed =
      command.kind || command.exit_code > 0 || command.signal != 0;
  // Without the rank that tells results there are none to come.
  if (!failed && !is_first && !live.AllEnded()) return std::nullopt;
  return Judge(command, is_first ? live.end : std::nullopt);
}

}  // namespace

void TellNode(Step& step, const std::string& node, Order order) {
  const auto found = step.state.nodes.find(node);
  if (found == step.state.nodes.end() || !found->second.session) return;
  step.Tell(*found->second.session, std::move(order));
}

void DismissParts(Step& step, const LiveAttempt& live,
                  const std::string& reason) {
  for (const LivePart& part : live.parts) {
    if (part.is_lost) continue;
    if (part.has_ended) {
      TellNode(step, part.node, EndedAckOrder{live.record.key});
    } else {
      TellNode(step, part.node,
               StopOrder{live.record.key, "the attempt has ended: " + reason});
    }
  }
}

void TakeStarted(Step& step, const AttemptStarted& command) {
  LiveAttempt& live = *step.state.FindLive(command.attempt);
  LivePart& part = *step.state.FindPart(command.attempt, command.session);
  part.renewed = step.now.steady;
  part.waiting_for.clear();
  std::vector<StartedRank> started = command.ranks;
  if (started.empty()) started.push_back({part.first_rank, command.pid, ""});
  NotePids(step, live, part, started);
  if (live.record.ranks.size() < 2) return;
  NoteReady(step, command.attempt, part);
  TakeAddresses(step, live, part, started);
}

void NoteReady(Step& step, const AttemptKey& key, LivePart& part) {
  LiveAttempt& live = *step.state.FindLive(key);
  const bool were_all = std::ranges::all_of(live.parts, &LivePart::is_ready);
  part.is_ready = true;
  if (!std::ranges::all_of(live.parts, &LivePart::is_ready)) return;
  // Whoever asks again may not have heard it.
  TellRendezvous(step, live, were_all ? &part : nullptr, {});
}

void EndPart(Step& step, const AttemptEnded& command, LivePart& part) {
  const AttemptKey key = command.attempt;
  part.has_ended = true;
  LiveAttempt& live = *step.state.FindLive(key);
  step.Touch(key.cohort.cell.sweep);
  if (!step.state.FindCohort(key.cohort)->HasHeldTrial()) {
    if (live.AllEnded()) FinishAttempt(step, key);
    return;
  }
  if (!live.record.stop_reason.empty()) {
    if (live.AllEnded()) Preempt(step, key);
    return;
  }
  const std::optional<Verdict> why = WhyOver(command, live, part);
  if (!why) return;
  if (!IsConsequence(why->kind)) {
    return Conclude(step, key, why->kind, why->message, std::string(part.node));
  }
  if (!live.suspicion) {
    live.suspicion = {
        why->kind, why->message, part.node,
        step.now.steady + std::chrono::duration_cast<SteadyTime::duration>(
                              step.policy.cause_patience)};
  }
  if (!live.AllEnded()) return;
  const Suspicion first = *live.suspicion;
  Conclude(step, key, first.kind, first.message, first.node);
}

void RefusePart(Step& step, const AttemptRefused& command, LivePart& part) {
  part.has_ended = part.is_lost = true;
  const LiveAttempt& live = *step.state.FindLive(command.attempt);
  if (live.record.stop_reason.empty()) {
    Conclude(step, command.attempt, command.kind, command.message,
             std::string(part.node));
  } else if (live.AllEnded()) {
    Preempt(step, command.attempt);
  }
}

void CheckSuspicions(Step& step) {
  std::vector<AttemptKey> due;
  for (const CohortId& id : step.state.live) {
    const LiveAttempt& live = *step.state.FindCohort(id)->live;
    if (live.suspicion && step.now.steady >= live.suspicion->until) {
      due.push_back(live.record.key);
    }
  }
  for (const AttemptKey& key : due) {
    const LiveAttempt& live = *step.state.FindLive(key);
    const Suspicion believed = *live.suspicion;
    const auto missed = std::ranges::find_if(
        live.parts,
        [](const LivePart& part) { return !part.has_ended && !part.is_heard; });
    if (missed == live.parts.end()) {
      Conclude(step, key, believed.kind, believed.message, believed.node);
    } else {
      Supersede(step, key,
                "agent_lost: its ranks on other nodes ended (" +
                    believed.message + ") while node " + missed->node +
                    " was not heard");
    }
  }
}

Verdict Judge(const AttemptEnded& ended, const std::optional<TrainerEnd>& end) {
  // One told to end names no kind: its agent knows why it was told. And of what
  // a trainer takes for a crash its agent may have found the cause.
  if (end && end->failed && end->kind &&
      (*end->kind != FailureKind::kCrash || !ended.kind)) {
    return {*end->kind, end->message};
  }
  if (ended.kind) return {*ended.kind, ended.message};
  std::string how = ended.signal != 0
                        ? "signal " + std::to_string(ended.signal)
                        : "exit code " + std::to_string(ended.exit_code);
  std::string text = "the trainer ended by " + how + " without all results";
  if (!ended.message.empty()) text += ": " + ended.message;
  return {FailureKind::kCrash, std::move(text)};
}

}  // namespace leadline::control
