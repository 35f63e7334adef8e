#include "worker/agent/agent_logic.h"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "proto/protocol_version.h"
#include "worker/agent/attempt_message.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;

constexpr int kMostRecords = 10'000;  // in one message
constexpr milliseconds kBusyWake{50};
constexpr milliseconds kIdleWake{500};
// A stream on which nothing is heard for so long is broken off.
constexpr int kSilentBeats = 4;
constexpr milliseconds kLeastSilence{10'000};

}  // namespace

AgentLogic::AgentLogic(AgentIdentity identity, AgentPolicy policy,
                       AgentParts parts, SteadyTime now)
    : identity_(std::move(identity)),
      policy_(policy),
      host_(parts.host),
      link_(parts.link),
      data_(parts.data),
      log_(parts.log),
      started_at_(now) {
  TakeOver(now);
}

void AgentLogic::TakeOver(SteadyTime now) {
  for (FoundAttempt& found : host_.FindHeld()) {
    const AttemptKey key = found.key;
    HeldEntry held;
    held.attempt = std::make_unique<HeldAttempt>(std::move(found), host_,
                                                 policy_.hang, now);
    if (held.attempt->WasInterrupted()) {
      LetGo(held);
      continue;
    }
    log_.Write(LogLevel::kInfo, "attempt_adopted",
               {{"attempt", ToText(key)},
                {"pid", std::to_string(held.attempt->pid())},
                {"lives", held.attempt->IsGone() ? "no" : "yes"}});
    held_[key] = std::move(held);
  }
}

SteadyTime AgentLogic::NextWake(SteadyTime now) const {
  // Trainers and their files are looked at by the clock.
  const auto rest = held_.empty() ? kIdleWake : kBusyWake;
  return registered_ ? std::min(now + rest, next_beat_) : now + rest;
}

void AgentLogic::Handle(SessionEvent event, SteadyTime now) {
  if (const auto* opened = std::get_if<StreamOpened>(&event.what)) {
    OnOpened(event.stream, *opened, now);
  } else if (auto* closed = std::get_if<StreamClosed>(&event.what)) {
    OnClosed(std::move(closed->status), now);
  } else if (event.stream == stream_) {
    heard_at_ = now;
    OnMessage(std::get<v1::CoordinatorMessage>(std::move(event.what)), now);
  }
}

void AgentLogic::OnOpened(int64_t stream, const StreamOpened& opened,
                          SteadyTime now) {
  stream_ = stream;
  local_address_ = opened.local_address;
  registered_ = false;
  broken_off_.reset();
  unanswered_.clear();
  heard_at_ = now;
  v1::AgentMessage message;
  *message.mutable_register_() = Introduction();
  Send(std::move(message));
}

bool AgentLogic::HasOutstanding() const {
  return std::any_of(held_.begin(), held_.end(), [](const auto& entry) {
    const RecordWindow& window = entry.second.attempt->window;
    return window.sent() > window.acknowledged();
  });
}

v1::Register AgentLogic::Introduction() const {
  v1::Register message;
  message.set_protocol_version(kProtocol.newest);
  message.set_least_protocol_version(kProtocol.least);
  message.set_node(identity_.node);
  message.set_instance(identity_.instance);
  message.set_host(identity_.host);
  message.set_boot_id(identity_.boot_id);
  message.set_pid(getpid());
  message.set_version(identity_.version);
  message.set_commit(identity_.commit);
  message.set_state_folder(identity_.state.string());
  message.set_previous_instance(identity_.previous_instance);
  for (const HeldDevice& device : identity_.devices) {
    v1::Device& entry = *message.add_devices();
    entry.set_id(device.id);
    entry.set_type(device.type);
    entry.set_memory_bytes(device.memory_bytes);
  }
  for (const auto& [key, held] : held_) {
    v1::LiveAttempt& entry = *message.add_attempts();
    *entry.mutable_attempt() = ToMessage(key);
    entry.set_last_sequence(held.attempt->window.sent());
    if (held.attempt->IsGone()) continue;
    for (const std::string& device : held.attempt->devices()) {
      entry.add_devices(device);
    }
  }
  return message;
}

void AgentLogic::Tick(SteadyTime now) {
  StartThoseDue(now);
  for (auto& [key, held] : held_) {
    held.attempt->Tick(now);
    NoteSuspension(held);
    if (leaving_ && held.attempt->IsGone() && held.attempt->WasInterrupted()) {
      LetGo(held);
    }
    if (!registered_) continue;
    TellWaits(held);
    if (held.attempt->CountAddresses() > held.told_addresses) TellStarted(key);
    // Gone before the records are looked for: so none can come after.
    const bool gone = held.attempt->IsGone();
    if (SendRecords(*held.attempt) && gone) SendEnding(*held.attempt);
  }
  const auto silence = std::max(kLeastSilence, kSilentBeats * heartbeat_);
  if (stream_ != 0 && now - heard_at_ > silence) {
    BreakOff(absl::UnavailableError("nothing was heard from it for too long"));
    heard_at_ = now;
  }
  if (registered_ && now >= next_beat_) Beat(now);
  if (registered_ && now >= next_question_) AskForRemoved(now);
}

void AgentLogic::LetGo(HeldEntry& held) {
  if (std::exchange(held.is_let_go, true)) return;
  const HeldAttempt& attempt = *held.attempt;
  // A former agent may have had more of them acknowledged.
  log_.Write(LogLevel::kInfo, "attempt_let_go",
             {{"attempt", ToText(attempt.key())},
              {"records", std::to_string(attempt.CountRecords())},
              {"acknowledged", std::to_string(attempt.window.acknowledged())}});
  host_.Release(attempt.key());
}

void AgentLogic::NoteSuspension(HeldEntry& held) {
  const bool now = held.attempt->IsSuspended();
  if (std::exchange(held.is_suspended, now) == now) return;
  log_.Write(LogLevel::kWarning, now ? "trainer_stopped" : "trainer_continued",
             {{"attempt", ToText(held.attempt->key())},
              {"pid", std::to_string(held.attempt->pid())}});
}

void AgentLogic::TellWaits(HeldEntry& held) {
  std::string waits = held.attempt->Waits();
  if (held.waits == waits) return;
  held.waits = waits;
  log_.Write(LogLevel::kWarning,
             waits.empty() ? "trainer_goes_on" : "trainer_waits",
             {{"attempt", ToText(held.attempt->key())}, {"for", waits}});
  v1::AgentMessage message;
  *message.mutable_waiting()->mutable_attempt() =
      ToMessage(held.attempt->key());
  message.mutable_waiting()->set_message(std::move(waits));
  Send(std::move(message));
}

void AgentLogic::Beat(SteadyTime now) {
  next_beat_ = now + heartbeat_;
  v1::AgentMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  heartbeat.set_number(++beats_);
  unanswered_[beats_] = now;
  for (const auto& [key, held] : held_) {
    *heartbeat.add_attempts() = ToMessage(key);
  }
  Send(std::move(message));
}

/// True if the event file holds no more for now, or never will.
bool AgentLogic::SendRecords(HeldAttempt& attempt) {
  const bool is_careful = careful_.IsCareful();
  if (is_careful && (!careful_.MaySend(attempt.key()) || HasOutstanding())) {
    return false;
  }
  while (attempt.window.HasRoom() && link_.HasRoom()) {
    absl::StatusOr<v1::RecordBatch> batch =
        attempt.NextBatch(is_careful ? 1 : kMostRecords);
    if (!batch.ok()) {
      if (!attempt.IsGone()) return false;  // it may be read yet
      attempt.GiveUpEvents(std::string(batch.status().message()));
      careful_.Forget(attempt.key());
      return true;
    }
    if (batch->records().empty()) return true;
    attempt.window.Send(batch->records().rbegin()->sequence(),
                        static_cast<int64_t>(batch->ByteSizeLong()));
    v1::AgentMessage message;
    *message.mutable_records() = *std::move(batch);
    Send(std::move(message));
    if (is_careful) return false;
  }
  return false;
}

void AgentLogic::SendEnding(HeldAttempt& attempt) {
  if (attempt.ending_sent || attempt.WasInterrupted()) return;
  attempt.ending_sent = true;
  v1::AgentMessage message;
  *message.mutable_ended() = attempt.Ending();
  log_.Write(LogLevel::kInfo, "attempt_ended",
             {{"attempt", ToText(attempt.key())},
              {"kind", message.ended().kind()},
              {"message", message.ended().message()}});
  Send(std::move(message));
}

void AgentLogic::Send(v1::AgentMessage message) {
  if (stream_ != 0) link_.Send(stream_, std::move(message));
}

void AgentLogic::Leave(SteadyTime now) {
  leaving_ = true;
  for (auto& [key, held] : held_) {
    if (held.pending) data_.Forget(key);
    held.attempt->StopBecauseAgentEnds(policy_.last_stop, now);
  }
}

bool AgentLogic::AllGone() const {
  return std::all_of(held_.begin(), held_.end(), [](const auto& entry) {
    return entry.second.attempt->IsGone();
  });
}

std::vector<AttemptKey> AgentLogic::Held() const {
  std::vector<AttemptKey> keys;
  for (const auto& [key, held] : held_) keys.push_back(key);
  return keys;
}

}  // namespace leadline::agent
