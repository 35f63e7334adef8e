// The agent's answers to what the coordinator orders.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "errors/error_code.h"
#include "proto/protocol_version.h"
#include "worker/agent/agent_logic.h"
#include "worker/agent/attempt_message.h"
#include "worker/agent/log_reader.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;

milliseconds FromSeconds(double seconds, milliseconds least,
                         milliseconds most) {
  if (!std::isfinite(seconds)) return most;
  const double count =
      std::clamp(seconds * 1000.0, static_cast<double>(least.count()),
                 static_cast<double>(most.count()));
  return milliseconds(static_cast<int64_t>(count));
}

/// Another attempt may train already: what this one would still say or keep
/// counts no more, and it must not go on beside its successor.
constexpr StopPatience kPatienceWithSuperseded{milliseconds(0),
                                               milliseconds(0)};

/// Coordinators that say nothing of it speak the first.
std::string WhyNotUnderstood(const v1::Registered& registered) {
  const int32_t newest = std::max(registered.protocol_version(), 1);
  const int32_t least = std::max(registered.least_protocol_version(), 1);
  return leadline::WhyNotUnderstood("leadline-agent", kProtocol,
                                    "leadline-coordinator", {least, newest});
}

}  // namespace

/// A coordinator that has learned more since may not understand what this
/// agent says. One whose trainers run waits for the update.
void AgentLogic::Part(absl::Status why) {
  if (!was_registered_) end_ = why;
  BreakOff(std::move(why));
}

void AgentLogic::OnMessage(v1::CoordinatorMessage message, SteadyTime now) {
  switch (message.message_case()) {
    case v1::CoordinatorMessage::kRegistered:
      return OnRegistered(message.registered(), now);
    case v1::CoordinatorMessage::kStart:
      return OnStart(std::move(*message.mutable_start()), now);
    case v1::CoordinatorMessage::kStop:
      return StopAttempt(message.stop().attempt(), message.stop().reason(),
                         policy_.stop, now);
    case v1::CoordinatorMessage::kAck:
      if (HeldAttempt* attempt = Find(message.ack().attempt())) {
        attempt->window.Acknowledge(message.ack().sequence());
        careful_.OnStored(attempt->key(), attempt->window.acknowledged());
      }
      return;
    case v1::CoordinatorMessage::kRenewal:
      return OnRenewal(message.renewal(), now);
    case v1::CoordinatorMessage::kReadLog:
      return OnReadLog(message.read_log());
    case v1::CoordinatorMessage::kRendezvous:
      return OnRendezvous(message.rendezvous(), now);
    case v1::CoordinatorMessage::kRemoved:
      return OnRemoved(message.removed());
    case v1::CoordinatorMessage::kWeigh:
      return OnWeigh(message.weigh());
    case v1::CoordinatorMessage::kEndedAck:
      if (HeldAttempt* attempt = Find(message.ended_ack().attempt())) {
        if (!attempt->ending_sent) return;
        host_.Release(attempt->key());
        careful_.Forget(attempt->key());
        held_.erase(attempt->key());
      }
      return;
    case v1::CoordinatorMessage::MESSAGE_NOT_SET:
      return;  // of a later version
  }
}

void AgentLogic::OnRegistered(const v1::Registered& registered,
                              SteadyTime now) {
  if (const std::string why = WhyNotUnderstood(registered); !why.empty()) {
    return Part(WithError(absl::FailedPreconditionError(why),
                          ErrorCode::kVersionMismatch));
  }
  registered_ = was_registered_ = true;
  news_.Forget();
  tries_ = 0;
  heartbeat_ = FromSeconds(registered.heartbeat_seconds(), milliseconds(20),
                           milliseconds(10'000));
  lease_ = FromSeconds(registered.lease_seconds(), milliseconds(100),
                       milliseconds(600'000));
  next_beat_ = next_question_ = now;
  coordinator_protocol_ = registered.protocol_version();
  log_.Write(LogLevel::kInfo, "registered", {{"node", registered.node()}});
  std::map<AttemptKey, int64_t> acknowledged;
  for (const v1::RecordAck& ack : registered.acknowledged()) {
    if (const auto key = FromMessage(ack.attempt())) {
      acknowledged[*key] = ack.sequence();
    }
  }
  for (auto& [key, held] : held_) {
    held.waits.clear();
    if (held.pending) held.pending->occupied.clear();  // is told again
    const auto known = acknowledged.find(key);
    const absl::Status sought = held.attempt->SendAgainAfter(
        known == acknowledged.end() ? std::nullopt
                                    : std::optional(known->second));
    if (!sought.ok()) {
      held.attempt->GiveUpEvents(std::string(sought.message()));
      careful_.Forget(key);
    }
    careful_.OnStored(key, held.attempt->window.acknowledged());
    // The stream that broke may have lost it.
    held.told_addresses = 0;
    if (held.attempt->pid() > 0) TellStarted(key);
    if (held.pending && held.pending->is_ready && !held.pending->may_start) {
      TellReady(key);
    }
  }
  for (const v1::Attempt& attempt : registered.superseded()) {
    StopAttempt(attempt, "superseded", kPatienceWithSuperseded, now);
  }
}

void AgentLogic::StopAttempt(const v1::Attempt& attempt,
                             const std::string& reason, StopPatience patience,
                             SteadyTime now) {
  HeldAttempt* found = Find(attempt);
  if (found == nullptr) return;
  // Before its data is there, nobody else would end the search.
  data_.Forget(found->key());
  found->Stop(reason, patience, now);
}

/// An answer that took longer says little of the lease as it is now.
bool AgentLogic::IsFresh(SteadyTime sent, SteadyTime now) const {
  return now - sent <= lease_ / 2;
}

void AgentLogic::Handle(const DataNews& news) {
  const auto entry = held_.find(news.attempt);
  if (entry == held_.end() || !entry->second.pending) return;
  log_.Write(LogLevel::kInfo, "waiting_for_data",
             {{"attempt", ToText(news.attempt)}, {"doing", news.message}});
  TellWaiting(news.attempt, news.message, false);
}

void AgentLogic::TellWaiting(const AttemptKey& key, const std::string& message,
                             bool is_ready) {
  if (!registered_) return;
  v1::AgentMessage said;
  v1::AttemptWaiting& waiting = *said.mutable_waiting();
  *waiting.mutable_attempt() = ToMessage(key);
  waiting.set_message(message);
  waiting.set_ready(is_ready);
  Send(std::move(said));
}

void AgentLogic::TellStarted(const AttemptKey& key) {
  HeldEntry& held = held_.at(key);
  const HeldAttempt& attempt = *held.attempt;
  v1::AgentMessage message;
  v1::AttemptStarted& started = *message.mutable_started();
  *started.mutable_attempt() = ToMessage(key);
  started.set_pid(attempt.pid());
  started.set_dataset_path(attempt.hold().dataset_path);
  started.set_device(attempt.hold().trainer_device);
  if (attempt.hold().world_size > 1) {
    for (v1::StartedRank& rank : attempt.Ranks()) {
      *started.add_ranks() = std::move(rank);
    }
  }
  held.told_addresses = attempt.CountAddresses();
  Send(std::move(message));
}

void AgentLogic::Refuse(const v1::Attempt& attempt, const std::string& kind,
                        const std::string& message) {
  log_.Write(
      LogLevel::kWarning, "attempt_refused",
      {{"attempt", attempt.cohort() + "@" + std::to_string(attempt.number())},
       {"kind", kind},
       {"message", message}});
  v1::AgentMessage reply;
  *reply.mutable_refused()->mutable_attempt() = attempt;
  reply.mutable_refused()->set_kind(kind);
  reply.mutable_refused()->set_message(message);
  Send(std::move(reply));
}

void AgentLogic::OnRenewal(const v1::Renewal& renewal, SteadyTime now) {
  const auto beat = unanswered_.find(renewal.number());
  if (beat == unanswered_.end()) return;
  const SteadyTime sent = beat->second;
  unanswered_.erase(unanswered_.begin(), std::next(beat));
  if (!IsFresh(sent, now)) return;
  for (const v1::Attempt& attempt : renewal.attempts()) {
    const auto key = FromMessage(attempt);
    const auto found = key ? held_.find(*key) : held_.end();
    if (found == held_.end()) continue;
    found->second.confirmed_at = sent;
    found->second.attempt->Renew(sent);
    StartIfDue(found->second, now);
  }
}

void AgentLogic::OnReadLog(const v1::ReadLogOrder& order) {
  v1::AgentMessage message;
  *message.mutable_log() = ReadLog(identity_.state, order);
  Send(std::move(message));
}

HeldAttempt* AgentLogic::Find(const v1::Attempt& attempt) {
  const auto key = FromMessage(attempt);
  const auto found = key ? held_.find(*key) : held_.end();
  return found == held_.end() ? nullptr : found->second.attempt.get();
}

}  // namespace leadline::agent
