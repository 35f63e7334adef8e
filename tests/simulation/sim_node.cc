#include "sim_node.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>
#include <signal.h>

#include "sim_coordinator.h"
#include "trainer_handle.h"
#include "worker/agent/attempt_message.h"

namespace leadline::simulation {
namespace {

constexpr double kSessionLast_s = 2;
constexpr double kTimeToLeave_s = 2.8;
// Long against the step of a trainer, short against how long some are stopped.
constexpr std::chrono::seconds kHangAfter{60};
constexpr std::chrono::milliseconds kSlowAnswer{700};

std::string NameOf(int64_t node) { return "n" + std::to_string(node); }

}  // namespace

SimNode::SimNode(int64_t number, int64_t slots, int64_t memory,
                 Surroundings around, SimCoordinator& coordinator)
    : number_(number),
      slots_(slots),
      memory_(memory),
      around_(around),
      coordinator_(coordinator),
      clock_offset_(Seconds(around.chance.Between(-90'000, 90'000))),
      life_(around.clockwork) {}

void SimNode::StartAgent() {
  EndLeftovers();
  agent::AgentIdentity identity;
  identity.node = NameOf(number_);
  around_.oracle.KnowMemory(identity.node, memory_);
  life_.Begin();
  identity.instance = identity.node + "-" + std::to_string(life_.number());
  identity.previous_instance = std::exchange(last_instance_, identity.instance);
  identity.host = identity.node;
  identity.boot_id = "boot" + std::to_string(boot_);
  identity.devices = agent::CpuSlots(slots_);
  for (agent::HeldDevice& device : identity.devices) {
    device.memory_bytes = memory_;
  }
  agent::AgentPolicy policy;
  policy.hang.least = kHangAfter;
  logic_ = std::make_unique<agent::AgentLogic>(
      std::move(identity), std::move(policy),
      agent::AgentParts{*this, *this, *this, around_.log}, AgentNow());
  Dial();
  Tick();
}

void SimNode::CrashAgent() {
  if (!logic_) return;
  logic_.reset();
  life_.End();
  tick_at_ = {};
  if (const auto wire = std::exchange(wire_, nullptr)) {
    wire->agent_open = false;
    coordinator_.HearEndOf(wire);
  }
  // Some stay away for longer than a lease and its grace.
  const double away_s = around_.chance.Happens(0.7)
                            ? around_.chance.Between(0.2, 20)
                            : around_.chance.Between(20, 120);
  around_.clockwork.After(Seconds(away_s), [this, life = life_.number()] {
    if (life == life_.number() && !logic_) StartAgent();
  });
}

void SimNode::StopAgent() {
  if (!logic_) return;
  life_.Do([this] {
    logic_->Leave(AgentNow());
    Tick();
  });
  // Whoever sent the signal does not wait for ever.
  around_.clockwork.After(Seconds(kTimeToLeave_s),
                          [this, life = life_.number()] {
                            if (life == life_.number()) CrashAgent();
                          });
}

/// As the program does before it dials.
void SimNode::EndLeftovers() {
  if (around_.plant == Plant::kLeftoversLeft) return;
  for (const auto& [key, process] : trainers_) {
    const auto held = held_.find(key.first);
    if (held == held_.end() || held->second.interrupted) {
      process->Signal(SIGKILL);
    }
  }
}

std::vector<agent::FoundAttempt> SimNode::FindHeld() {
  std::vector<agent::FoundAttempt> found;
  if (around_.plant == Plant::kLeftoversLeft) return found;
  for (const auto& [key, held] : held_) {
    agent::FoundAttempt& one = found.emplace_back();
    one.key = key;
    one.hold = held.hold;
    one.interrupted = held.interrupted;
    one.machine_restarted = held.boot != boot_;
    for (int64_t k = 0; k < held.hold.ranks; ++k) {
      one.trainers.push_back(
          HandleOf(trainers_.at({key, held.hold.first_rank + k}), clock_offset_,
                   around_.plant, true));
    }
  }
  return found;
}

void SimNode::MarkInterrupted(const AttemptKey& attempt) {
  const auto held = held_.find(attempt);
  if (held != held_.end()) held->second.interrupted = true;
}

void SimNode::Reboot() {
  for (const auto& [key, process] : trainers_) process->Signal(SIGKILL);
  ++boot_;
  clock_offset_ = Seconds(around_.chance.Between(-90'000, 90'000));
  CrashAgent();
}

void SimNode::FillDisk(Duration time) {
  disk_full_until_ = std::max(disk_full_until_, around_.clockwork.now() + time);
  for (const auto& [key, file] : disk_) file->disk_is_full = true;
  around_.clockwork.After(time, [this] {
    if (around_.clockwork.now() < disk_full_until_) return;
    for (const auto& [key, file] : disk_) file->disk_is_full = false;
  });
}

void SimNode::Sicken(Duration time) {
  sick_until_ = std::max(sick_until_, around_.clockwork.now() + time);
}

void SimNode::LoseData(Duration time) {
  data_lost_until_ = std::max(data_lost_until_, around_.clockwork.now() + time);
}

TrainerFate SimNode::FateOf(const AttemptKey& attempt) const {
  if (around_.clockwork.now() < sick_until_) return TrainerFate::kDiesAtStart;
  const CellWork work = work_.at(attempt);
  if (work == CellWork::kBroken) return TrainerFate::kCrashes;
  const bool is_short = memory_ < kHungryNeeds;
  return work == CellWork::kHungry && is_short ? TrainerFate::kRunsOutOfMemory
                                               : TrainerFate::kTrains;
}

std::shared_ptr<SimProcess> SimNode::Trainer(int64_t which) const {
  std::vector<std::shared_ptr<SimProcess>> living;
  for (const auto& [key, process] : trainers_) {
    if (!process->IsGone()) living.push_back(process);
  }
  if (living.empty()) return nullptr;
  return living[static_cast<size_t>(which % std::ssize(living))];
}

bool SimNode::HoldsNothing() const {
  return logic_ && logic_->Held().empty() && Trainer(0) == nullptr;
}

std::optional<std::string> SimNode::WhyNotOn(const std::vector<std::string>&,
                                             int64_t, SteadyTime since) {
  // The drivers of some take their time.
  if (number_ % 3 == 2 && AgentNow() - since < kSlowAnswer) return std::nullopt;
  const bool is_full = around_.clockwork.now() < disk_full_until_;
  return is_full && number_ % 2 == 0 ? "a stranger uses it" : "";
}

absl::StatusOr<std::vector<std::unique_ptr<agent::Trainer>>> SimNode::Start(
    const AttemptKey& attempt, const agent::TrainerOrder& order) {
  if (around_.clockwork.now() < disk_full_until_) {
    return absl::UnavailableError("no space left on device");
  }
  std::vector<std::unique_ptr<agent::Trainer>> trainers;
  const int64_t size = order.hold.world_size;
  for (const agent::RankOrder& rank : order.ranks) {
    TrainerJob job;
    job.attempt = attempt;
    job.node = number_;
    job.seeds = nlohmann::json::parse(rank.config)
                    .at("seeds")
                    .get<std::vector<int64_t>>();
    job.devices = rank.devices;
    job.rank = rank.rank;
    if (size > 1) job.gang = around_.gangs.Of(attempt, size);
    job.fate = FateOf(attempt);
    job.watches_silence = around_.plant != Plant::kSilenceIgnored;
    job.misses_ranks = around_.plant != Plant::kRanksNotMissed;
    const RankKey key{attempt, rank.rank};
    disk_[key] = std::make_shared<EventFile>();
    auto process = std::make_shared<SimProcess>(std::move(job), ++pids_,
                                                disk_[key], around_.clockwork,
                                                around_.chance, around_.oracle);
    trainers_[key] = process;
    process->Begin();
    trainers.push_back(HandleOf(process, clock_offset_, around_.plant, false));
  }
  held_[attempt] = {order.hold, boot_, false};
  return trainers;
}

std::unique_ptr<agent::EventLines> SimNode::Events(const AttemptKey& attempt,
                                                   int64_t rank) {
  return LinesOf(disk_.at({attempt, rank}));
}

void SimNode::Find(const AttemptKey& attempt, v1::Dataset) {
  life_.Later(
      Seconds(around_.chance.Between(0.01, kSessionLast_s)), [this, attempt] {
        if (around_.clockwork.now() < data_lost_until_) {
          logic_->Handle(
              agent::DataFound{attempt,
                               absl::DataLossError("not what its hash says")},
              AgentNow());
        } else {
          logic_->Handle(agent::DataFound{attempt, std::string("/data")},
                         AgentNow());
        }
        Tick();
      });
}

}  // namespace leadline::simulation
