// How the agent starts an attempt, or its part of one: devices, data, the other
// nodes' word, then the trainers.

#include <algorithm>
#include <utility>

#include "model/spec/disk_forecast.h"
#include "model/spec/memory_forecast.h"
#include "worker/agent/agent_logic.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/attempt_message.h"

namespace leadline::agent {
namespace {

std::string KindOf(const absl::Status& status, const char* unless) {
  if (status.code() == absl::StatusCode::kUnavailable) return "disk";
  if (status.code() == absl::StatusCode::kInternal) return "crash";
  return unless;
}

constexpr char kLoopback[] = "127.0.0.1";
constexpr char kWaitsForOthers[] =
    "ready, and the ranks on other nodes are not";

int64_t DiskBytes(const spec::TrainerConfig& config) {
  // A coordinator of another version may know fewer keys, and what cannot stand
  // is the trainer's to refuse.
  const spec::Resolution whole = spec::Resolve(config.settings.values());
  if (!whole.errors.empty()) return 0;
  return spec::ForecastCheckpointBytes(
      whole.settings, config.dataset.vocabulary,
      static_cast<int64_t>(config.seeds.size()));
}

int64_t DeviceBytes(const spec::TrainerConfig& config) {
  const spec::Resolution whole = spec::Resolve(config.settings.values());
  if (!whole.errors.empty()) return 0;
  return spec::ForecastMemory(whole.settings, config.dataset.vocabulary,
                              std::ssize(config.seeds))
      .device_peak;
}

}  // namespace

std::string AgentLogic::WhyNotStart(const v1::StartAttempt& order) const {
  const std::vector<std::string> wanted(order.devices().begin(),
                                        order.devices().end());
  if (SelectDevices(identity_.devices, wanted).empty()) {
    return "this agent does not hold the devices asked for";
  }
  for (const auto& [key, held] : held_) {
    if (held.attempt->IsGone()) continue;
    for (const std::string& device : held.attempt->devices()) {
      if (std::find(wanted.begin(), wanted.end(), device) != wanted.end()) {
        return "device " + device + " is taken by " + ToText(key);
      }
    }
  }
  return {};
}

void AgentLogic::OnStart(v1::StartAttempt order, SteadyTime now) {
  const auto key = FromMessage(order.attempt());
  if (!key)
    return Refuse(order.attempt(), "config", "no attempt has such an id");
  if (const auto found = held_.find(*key); found != held_.end()) {
    // Asked twice: answered twice, done once.
    if (found->second.attempt->pid() > 0) TellStarted(*key);
    return;
  }
  // Not held, and so queued again once this agent has gone.
  if (leaving_) return;
  if (const std::string why = WhyNotStart(order); !why.empty()) {
    return Refuse(order.attempt(), "device", why);
  }
  absl::StatusOr<spec::TrainerConfig> config = ConfigFrom(order);
  if (!config.ok()) {
    return Refuse(order.attempt(), "config",
                  std::string(config.status().message()));
  }
  HoldRecord hold = HoldFrom(order);
  hold.trainer_device =
      SelectDevices(identity_.devices, hold.devices).front()->trainer_name;
  const bool is_whole = hold.ranks == hold.world_size;
  HeldEntry& held = held_[*key];
  held.attempt =
      std::make_unique<HeldAttempt>(*key, std::move(hold), host_, policy_.hang);
  held.attempt->window.Restart(0);
  data_.Find(*key, order.dataset());
  const int64_t bytes = DeviceBytes(*config);
  held.pending =
      Pending{std::move(order), *std::move(config), now, bytes, {}, is_whole};
  log_.Write(LogLevel::kInfo, "attempt_taken", {{"attempt", ToText(*key)}});
  Beat(now);
}

void AgentLogic::Handle(DataFound found, SteadyTime now) {
  const auto entry = held_.find(found.attempt);
  if (entry == held_.end() || !entry->second.pending) return;
  HeldEntry& held = entry->second;
  if (held.attempt->IsStopping()) {
    held.pending.reset();
  } else if (found.path.ok()) {
    held.pending->data = *std::move(found.path);
    StartIfDue(held, now);
  } else {
    Refuse(held.pending->order.attempt(), KindOf(found.path.status(), "data"),
           std::string(found.path.status().message()));
    held_.erase(entry);
  }
}

void AgentLogic::TellReady(const AttemptKey& key) {
  TellWaiting(key, kWaitsForOthers, true);
}

void AgentLogic::OnRendezvous(const v1::Rendezvous& rendezvous,
                              SteadyTime now) {
  const auto key = FromMessage(rendezvous.attempt());
  const auto found = key ? held_.find(*key) : held_.end();
  if (found == held_.end()) return;
  HeldEntry& held = found->second;
  if (!rendezvous.peers().empty()) {
    return held.attempt->SetPeers(
        {rendezvous.peers().begin(), rendezvous.peers().end()});
  }
  if (!held.pending) return;
  held.pending->may_start = true;
  StartIfDue(held, now);
}

/// Where all ranks are on this machine nobody else need reach them.
std::string AgentLogic::ListenAddress(const HoldRecord& hold) const {
  if (hold.ranks == hold.world_size) return kLoopback;
  if (!identity_.collective_address.empty()) {
    return identity_.collective_address;
  }
  return local_address_.empty() ? kLoopback : local_address_;
}

TrainerOrder AgentLogic::OrderFor(const HeldEntry& held,
                                  Pending pending) const {
  const AttemptKey& key = held.attempt->key();
  TrainerOrder order;
  order.hold = held.attempt->hold();
  order.hold.dataset_path = *pending.data;
  order.threads = pending.config.settings.Integer("threads");
  const HoldRecord& hold = order.hold;
  spec::TrainerConfig& config = pending.config;
  config.dataset.path = hold.dataset_path;
  config.device = hold.trainer_device;
  config.world_size = hold.world_size;
  if (hold.world_size > 1) {
    config.listen = ListenAddress(hold);
    config.secret = pending.order.secret();
    config.timeout_s = policy_.collective_timeout_s;
  }
  const int64_t each = std::ssize(hold.devices) / hold.ranks;
  for (int64_t k = 0; k < hold.ranks; ++k) {
    const int64_t rank = hold.first_rank + k;
    config.rank = rank;
    config.folder =
        RankFolder(host_.Folder(key), rank, hold.first_rank).string();
    // It gives the others what they need of it.
    config.resume = rank == 0 ? host_.ResumeFrom(key) : std::nullopt;
    const auto first = hold.devices.begin() + k * each;
    order.ranks.push_back(
        {rank, spec::TrainerConfigJson(config), {first, first + each}});
  }
  if (hold.first_rank == 0) order.disk_bytes = DiskBytes(config);
  return order;
}

/// Nobody of ours is on them: what is taken of them is a stranger's.
bool AgentLogic::HasDevicesFree(HeldEntry& held) {
  Pending& pending = *held.pending;
  const AttemptKey& key = held.attempt->key();
  std::optional<std::string> why = host_.WhyNotOn(
      held.attempt->hold().devices, pending.device_bytes, pending.taken_at);
  if (!why) return false;
  if (!why->empty() && pending.occupied.empty()) {
    log_.Write(LogLevel::kWarning, "device_occupied",
               {{"attempt", ToText(key)}, {"why", *why}});
  }
  if (!why->empty() && *why != pending.occupied) TellWaiting(key, *why, false);
  pending.occupied = *std::move(why);
  return pending.occupied.empty();
}

/// What was not known yet of their devices may be known now.
void AgentLogic::StartThoseDue(SteadyTime now) {
  for (auto next = held_.begin(); next != held_.end();) {
    HeldEntry& held = (next++)->second;
    StartIfDue(held, now);  // it may be held no more
  }
}

void AgentLogic::StartIfDue(HeldEntry& held, SteadyTime now) {
  if (!held.pending || !held.pending->data || held.attempt->IsStopping()) {
    return;
  }
  if (!held.pending->may_start) {
    if (held.pending->is_ready || !HasDevicesFree(held)) return;
    held.pending->is_ready = true;
    return TellReady(held.attempt->key());
  }
  if (!held.confirmed_at || !IsFresh(*held.confirmed_at, now)) return;
  if (!held.pending->is_ready && !HasDevicesFree(held)) return;
  Pending pending = *std::exchange(held.pending, std::nullopt);
  const v1::Attempt name = pending.order.attempt();
  const AttemptKey key = held.attempt->key();
  const absl::Status started = held.attempt->Start(
      OrderFor(held, std::move(pending)), *held.confirmed_at, now);
  if (started.ok()) {
    log_.Write(LogLevel::kInfo, "trainer_started",
               {{"attempt", ToText(key)},
                {"pid", std::to_string(held.attempt->pid())},
                {"ranks", std::to_string(held.attempt->hold().ranks)}});
    return TellStarted(key);
  }
  Refuse(name, KindOf(started, "crash"), std::string(started.message()));
  held_.erase(key);
}

}  // namespace leadline::agent
