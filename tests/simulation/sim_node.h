// A machine: its disk, its trainers, and the agent's logic as a process that
// may be stopped, killed and started again.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "chance.h"
#include "clockwork.h"
#include "network.h"
#include "oracle.h"
#include "plant.h"
#include "process_life.h"
#include "script.h"
#include "sim_trainer.h"
#include "worker/agent/agent_logic.h"

namespace leadline::simulation {

class SimCoordinator;

/// What nodes share.
struct Surroundings {
  Clockwork& clockwork;
  Chance& chance;
  Network& network;
  Oracle& oracle;
  Log& log;
  SimGangs& gangs;
  Plant plant = Plant::kNone;
};

class SimNode final : public agent::AgentLink,
                      public agent::AttemptHost,
                      public agent::DataRequests {
 public:
  /// `memory`: bytes of each slot; 0: it does not say.
  SimNode(int64_t number, int64_t slots, int64_t memory, Surroundings around,
          SimCoordinator& coordinator);

  void StartAgent();
  void CrashAgent();
  /// Told to end, as by SIGTERM, and started again.
  void StopAgent();
  void StallAgent(Duration time) { life_.Stall(time); }
  /// Everything on it ends, and comes up under another boot id.
  void Reboot();
  void FillDisk(Duration time);
  /// Trainers crash as they start.
  void Sicken(Duration time);
  /// What they train on is not there.
  void LoseData(Duration time);
  /// One of the trainers that live, or null.
  std::shared_ptr<SimProcess> Trainer(int64_t which) const;
  /// The far end of its stream says or ends something.
  void Arrive(const std::shared_ptr<Wire>& wire,
              v1::CoordinatorMessage message);
  void WireBroken(const std::shared_ptr<Wire>& wire,
                  const absl::Status& status);

  bool HoldsNothing() const;
  int64_t number() const { return number_; }

  // What the logic asks for.
  void Send(int64_t stream, v1::AgentMessage message) override;
  bool HasRoom() const override { return true; }
  void Break(int64_t stream) override;
  // Simulated trainers keep no checkpoints.
  std::optional<std::string> ResumeFrom(const AttemptKey&) const override {
    return std::nullopt;
  }
  std::string Folder(const AttemptKey& attempt) const override {
    return "/attempts/" + ToText(attempt);
  }
  /// On every second node what is full at times are the devices.
  std::optional<std::string> WhyNotOn(const std::vector<std::string>&, int64_t,
                                      SteadyTime since) override;
  absl::StatusOr<std::vector<std::unique_ptr<agent::Trainer>>> Start(
      const AttemptKey& attempt, const agent::TrainerOrder& order) override;
  std::vector<agent::FoundAttempt> FindHeld() override;
  void MarkInterrupted(const AttemptKey& attempt) override;
  void Release(const AttemptKey& attempt) override { held_.erase(attempt); }
  // Nobody removes sweeps here.
  std::vector<SweepId> KeptSweeps() const override { return {}; }
  void RemoveFiles(SweepId) override {}
  void WeighFiles(agent::WeighingTag, std::vector<SweepId>) override {}
  std::unique_ptr<agent::EventLines> Events(const AttemptKey& attempt,
                                            int64_t rank) override;
  void Find(const AttemptKey& attempt, v1::Dataset dataset) override;

 private:
  void Tick();
  void Dial();
  void EndLeftovers();
  void NoteOrder(const v1::StartAttempt& order);
  TrainerFate FateOf(const AttemptKey& attempt) const;
  /// What the planted defect makes of a message; true: it is not sent.
  void Spoil(v1::CoordinatorMessage& message) const;
  bool Spoil(const v1::AgentMessage& message);
  void DemandPoison(const v1::AgentMessage& message) const;
  SteadyTime AgentNow() const {
    return around_.clockwork.now() + clock_offset_;
  }

  const int64_t number_;
  const int64_t slots_;
  const int64_t memory_;
  Surroundings around_;
  SimCoordinator& coordinator_;
  Duration clock_offset_{};  // no two hosts' steady clocks agree
  int64_t boot_ = 1;
  ProcessLife life_;  // of the agent
  int64_t pids_ = 100;
  int64_t streams_ = 0;
  std::unique_ptr<agent::AgentLogic> logic_;
  std::shared_ptr<Wire> wire_;
  SteadyTime tick_at_{};
  SteadyTime disk_full_until_{};
  SteadyTime sick_until_{};
  SteadyTime data_lost_until_{};
  using RankKey = std::pair<AttemptKey, int64_t>;
  std::map<RankKey, std::shared_ptr<EventFile>> disk_;
  std::map<RankKey, std::shared_ptr<SimProcess>> trainers_;
  /// Files beside the event file, which outlive the agent.
  struct Held {
    agent::HoldRecord hold;
    int64_t boot = 0;
    bool interrupted = false;
  };
  std::map<AttemptKey, Held> held_;
  std::string last_instance_;
  std::map<std::string, int64_t> last_sent_;  // records, by cohort
  std::set<std::string> told_ends_;
  // As ordered:
  std::map<AttemptKey, CellWork> work_;
  std::map<AttemptKey, int64_t> first_ranks_;
};

}  // namespace leadline::simulation
