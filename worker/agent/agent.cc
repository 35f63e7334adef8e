#include "worker/agent/agent.h"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "worker/agent/attempt_message.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;

constexpr int kProtocolVersion = 1;
constexpr int kLeastProtocolVersion = 1;
constexpr size_t kMostInputs = 1024;
constexpr milliseconds kBusyWake{50};
constexpr milliseconds kIdleWake{500};
// A stream on which nothing is heard for so long is broken off.
constexpr int kSilentBeats = 4;
constexpr milliseconds kLeastSilence{10'000};
constexpr milliseconds kTimeToLeave{2'800};
constexpr milliseconds kTimeToSayGoodbye{500};

}  // namespace

Agent::Agent(AgentOptions options, FindData find, Log& log)
    : options_(std::move(options)),
      log_(log),
      inputs_(kMostInputs),
      data_(std::make_unique<DataThread>(
          std::move(find),
          [this](DataFound found) { inputs_.Push(std::move(found)); })) {}

Agent::~Agent() {
  inputs_.Close();
  session_.reset();
  data_.reset();
}

void Agent::Stop() { inputs_.Push(StopWanted{}); }

AgentEnd Agent::Run() {
  started_at_ = std::chrono::steady_clock::now();
  session_ = std::make_unique<Session>(
      options_.session,
      [this](SessionEvent event) { inputs_.Push(std::move(event)); });
  while (!leaving_ && !end_) {
    auto input = inputs_.PopUntil(NextWake(std::chrono::steady_clock::now()));
    const auto now = std::chrono::steady_clock::now();
    if (input) {
      std::visit([&](auto& what) { Handle(std::move(what), now); }, *input);
    }
    Tick(now);
  }
  return Leave();
}

SteadyTime Agent::NextWake(SteadyTime now) const {
  // Trainers and their files are looked at by the clock.
  const auto rest = held_.empty() ? kIdleWake : kBusyWake;
  return registered_ ? std::min(now + rest, next_beat_) : now + rest;
}

void Agent::Handle(SessionEvent event, SteadyTime now) {
  if (std::holds_alternative<StreamOpened>(event.what)) {
    OnOpened(event.stream, now);
  } else if (auto* closed = std::get_if<StreamClosed>(&event.what)) {
    OnClosed(closed->status, now);
  } else if (event.stream == stream_) {
    heard_at_ = now;
    OnMessage(std::get<v1::CoordinatorMessage>(std::move(event.what)), now);
  }
}

void Agent::OnOpened(int64_t stream, SteadyTime now) {
  stream_ = stream;
  registered_ = false;
  heard_at_ = now;
  v1::AgentMessage message;
  *message.mutable_register_() = Introduction();
  Send(std::move(message));
}

void Agent::OnClosed(const absl::Status& status, SteadyTime now) {
  stream_ = 0;
  registered_ = false;
  log_.Write(LogLevel::kWarning, "coordinator_gone",
             {{"status", status.ToString()}});
  if (options_.is_private && was_registered_) {
    leaving_ = true;
    return;
  }
  const bool refused = status.code() == absl::StatusCode::kFailedPrecondition;
  if (was_registered_ || !(refused || options_.is_private)) return;
  if (now - started_at_ < options_.patience_at_start) return;
  end_ = AgentEnd{1, std::string(status.message())};
}

v1::Register Agent::Introduction() const {
  v1::Register message;
  message.set_protocol_version(kProtocolVersion);
  message.set_least_protocol_version(kLeastProtocolVersion);
  message.set_node(options_.node);
  message.set_instance(options_.instance);
  message.set_host(options_.host);
  message.set_boot_id(options_.boot_id);
  message.set_pid(getpid());
  message.set_version(options_.version);
  message.set_commit(options_.commit);
  message.set_state_folder(options_.state.string());
  for (const HeldDevice& device : options_.devices) {
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

void Agent::Tick(SteadyTime now) {
  for (auto& [key, held] : held_) {
    held.attempt->Tick(now);
    if (!registered_) continue;
    // Gone before the records are looked for: so none can come after.
    const bool gone = held.attempt->IsGone();
    if (SendRecords(*held.attempt) && gone) SendEnding(*held.attempt);
  }
  const auto silence = std::max(kLeastSilence, kSilentBeats * heartbeat_);
  if (stream_ != 0 && now - heard_at_ > silence) {
    session_->Break(stream_);
    heard_at_ = now;
  }
  if (registered_ && now >= next_beat_) Beat(now);
}

void Agent::Beat(SteadyTime now) {
  next_beat_ = now + heartbeat_;
  v1::AgentMessage message;
  v1::Heartbeat& heartbeat = *message.mutable_heartbeat();
  heartbeat.set_number(++beats_);
  for (const auto& [key, held] : held_) {
    *heartbeat.add_attempts() = ToMessage(key);
  }
  Send(std::move(message));
}

/// True if the event file holds no more for now, or never will.
bool Agent::SendRecords(HeldAttempt& attempt) {
  while (attempt.window.HasRoom() && session_->HasRoom()) {
    absl::StatusOr<v1::RecordBatch> batch = attempt.NextBatch();
    if (!batch.ok()) {
      if (!attempt.IsGone()) return false;  // it may be read yet
      attempt.GiveUpEvents(std::string(batch.status().message()));
      return true;
    }
    if (batch->records().empty()) return true;
    attempt.window.Send(batch->records().rbegin()->sequence(),
                        static_cast<int64_t>(batch->ByteSizeLong()));
    v1::AgentMessage message;
    *message.mutable_records() = *std::move(batch);
    Send(std::move(message));
  }
  return false;
}

void Agent::SendEnding(HeldAttempt& attempt) {
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

void Agent::Send(v1::AgentMessage message) {
  if (stream_ != 0) session_->Send(stream_, std::move(message));
}

AgentEnd Agent::Leave() {
  leaving_ = true;
  const auto deadline = std::chrono::steady_clock::now() + kTimeToLeave;
  const auto all_gone = [&] {
    return std::all_of(held_.begin(), held_.end(), [](const auto& entry) {
      return entry.second.attempt->IsGone();
    });
  };
  for (auto& [key, held] : held_) {
    held.attempt->StopBecauseAgentEnds(options_.last_stop,
                                       std::chrono::steady_clock::now());
  }
  while (!all_gone() && std::chrono::steady_clock::now() < deadline) {
    auto input =
        inputs_.PopUntil(std::chrono::steady_clock::now() + milliseconds(20));
    const auto now = std::chrono::steady_clock::now();
    if (input) {
      std::visit([&](auto& what) { Handle(std::move(what), now); }, *input);
    }
    Tick(now);
  }
  Tick(std::chrono::steady_clock::now());
  session_->Finish(std::chrono::steady_clock::now() + kTimeToSayGoodbye);
  return end_.value_or(AgentEnd{});
}

}  // namespace leadline::agent
