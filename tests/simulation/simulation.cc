#include "simulation.h"

#include <memory>
#include <utility>

#include "people.h"
#include "sim_coordinator.h"
#include "sim_node.h"
#include "sim_store.h"
#include "tests/support/store_world.h"

namespace leadline::simulation {
namespace {

// Of the last fault: waits for a canary grow to half an hour.
constexpr double kQuietWithin_s = 7200;
constexpr int64_t kMostSteps = 2'000'000;

/// What the programs log, with the simulated time, for the trace.
class TraceLog final : public Log {
 public:
  TraceLog(const Clockwork& clockwork, std::vector<std::string>* lines)
      : clockwork_(clockwork), lines_(lines) {}

  void Write(LogLevel, std::string_view event,
             std::initializer_list<LogField> fields) override {
    if (!lines_) return;
    char time[24];
    std::snprintf(time, sizeof time, "%8.3f  ", clockwork_.Elapsed());
    std::string line = time + std::string(event);
    for (const LogField& field : fields) {
      line += " " + std::string(field.key) + "=" + field.value;
    }
    lines_->push_back(std::move(line));
  }

 private:
  const Clockwork& clockwork_;
  std::vector<std::string>* lines_;
};

class Player {
 public:
  Player(const Script& script, Plant plant, Outcome& outcome, bool with_trace)
      : script_(script),
        outcome_(outcome),
        chance_(script.seed * 2 + 1),
        log_(clockwork_, with_trace ? &outcome.trace : nullptr),
        network_(clockwork_, chance_, std::ssize(script.slots)),
        around_{clockwork_, chance_, network_, oracle_, log_, plant},
        store_(OpenStore(), oracle_, plant),
        coordinator_(around_, store_),
        people_(around_, coordinator_) {
    std::vector<SimNode*> nodes;
    for (size_t n = 0; n < script.slots.size(); ++n) {
      nodes_.push_back(
          std::make_unique<SimNode>(static_cast<int64_t>(n), script.slots[n],
                                    script.memory[n], around_, coordinator_));
      nodes.push_back(nodes_.back().get());
    }
    coordinator_.Connect(std::move(nodes));
  }

  void Run() {
    coordinator_.StartProcess();
    for (const auto& node : nodes_) node->StartAgent();
    for (size_t s = 0; s < script_.sweeps.size(); ++s) {
      clockwork_.After(Seconds(script_.sweeps[s].submitted_at_s), [this, s] {
        people_.Submit(script_.sweeps[s], static_cast<int64_t>(s));
      });
    }
    for (const Fault& fault : script_.faults) {
      clockwork_.After(Seconds(fault.at_s), [this, fault] {
        if (Happens(fault)) ++outcome_.faults[static_cast<size_t>(fault.kind)];
      });
    }
    RunUntilQuiet();
  }

  double Elapsed() const { return clockwork_.Elapsed(); }
  int64_t attempts() const { return oracle_.attempts(); }

 private:
  storage::StorePair OpenStore() {
    if (!script_.sqlite) return storage::MakeMemoryStore();
    folder_.emplace();
    auto store = storage::OpenSqliteStore(folder_->path() / "leadline.db");
    if (!store.ok()) throw Violation(std::string(store.status().message()));
    return *std::move(store);
  }

  void RunUntilQuiet() {
    const SteadyTime limit =
        Clockwork::kBegin + Seconds(script_.faults_end_s + kQuietWithin_s);
    while (clockwork_.StepUntil(limit)) {
      if (++outcome_.steps > kMostSteps) {
        throw Violation("there is no end of things to do");
      }
      if (outcome_.steps % 64 == 0 && IsQuiet()) break;
    }
    oracle_.CheckAllEnded(std::ssize(script_.sweeps));
    if (!IsQuiet()) {
      throw Violation("all trials have ended and something is still held");
    }
    oracle_.OnLoaded(store_.disk());
  }

  bool IsQuiet() const {
    if (clockwork_.Elapsed() < script_.faults_end_s) return false;
    for (const SweepPlan& sweep : script_.sweeps) {
      if (clockwork_.Elapsed() < sweep.submitted_at_s + 1) return false;
    }
    if (people_.unanswered() > 0 || !oracle_.AllEnded()) return false;
    if (!coordinator_.HoldsNothing()) return false;
    for (const auto& node : nodes_) {
      if (!node->HoldsNothing()) return false;
    }
    return true;
  }

  /// What the coordinator says takes longer and longer, then nothing passes.
  void FadeLink(const Fault& fault, Duration time) {
    network_.Begin(Network::Trouble::kFading, fault.node, time);
    clockwork_.After(time, [this, fault] {
      network_.Begin(Network::Trouble::kCut, fault.node,
                     Seconds(static_cast<double>(fault.detail) / 10));
      coordinator_.CutWiresOf(fault.node);
    });
  }

  /// False where there is nobody it could happen to.
  bool Happens(const Fault& fault) {
    log_.Write(LogLevel::kInfo, "FAULT", {{"what", ToText(fault)}});
    switch (fault.kind) {
      case FaultKind::kCutLink:
      case FaultKind::kSlowLink:
      case FaultKind::kDoubledMessages:
      case FaultKind::kSwappedMessages:
        return HappensToLink(fault);
      case FaultKind::kCrashCoordinator:
      case FaultKind::kStallCoordinator:
      case FaultKind::kFullStore:
      case FaultKind::kWallJump:
        return HappensToCoordinator(fault);
      case FaultKind::kCrashAgent:
      case FaultKind::kStallAgent:
      case FaultKind::kRebootNode:
      case FaultKind::kFullNode:
      case FaultKind::kSickNode:
      case FaultKind::kLostData:
        return HappensToNode(fault);
      case FaultKind::kKillTrainer:
      case FaultKind::kStallTrainer:
      case FaultKind::kBreakTrainer:
      case FaultKind::kFaultyDevice:
      case FaultKind::kShortMemory:
        return HappensToTrainer(fault, NodeOf(fault).Trainer(fault.detail));
      case FaultKind::kCancelSweep:
      case FaultKind::kPauseSweep:
      case FaultKind::kStopSweep:
      case FaultKind::kCancelAndRetry:
      case FaultKind::kRetrySweep:
        return PeopleDo(fault);
    }
    return false;
  }

  SimNode& NodeOf(const Fault& fault) const {
    return *nodes_[static_cast<size_t>(fault.node)];
  }

  bool HappensToLink(const Fault& fault) {
    using Trouble = Network::Trouble;
    const Duration time = Seconds(fault.lasts_s);
    if (fault.kind == FaultKind::kCutLink) {
      network_.Begin(Trouble::kCut, fault.node, time);
      coordinator_.CutWiresOf(fault.node);
    } else if (fault.kind == FaultKind::kDoubledMessages) {
      network_.Begin(Trouble::kDoubled, fault.node, time);
    } else if (fault.kind == FaultKind::kSwappedMessages) {
      network_.Begin(Trouble::kSwapped, fault.node, time);
    } else if (fault.detail % 2 == 0) {
      FadeLink(fault, time);
    } else {
      network_.Begin(Trouble::kSlow, fault.node, time);
    }
    return true;
  }

  bool HappensToCoordinator(const Fault& fault) {
    const Duration time = Seconds(fault.lasts_s);
    if (fault.kind == FaultKind::kCrashCoordinator) {
      if (!coordinator_.IsUp()) return false;
      store_.kill_in = fault.detail % 8;
      store_.kill_after = fault.detail / 8 % 2 == 0;
    } else if (fault.kind == FaultKind::kStallCoordinator) {
      coordinator_.StallProcess(time);
      return coordinator_.IsUp();
    } else if (fault.kind == FaultKind::kFullStore) {
      store_.is_full = true;
      clockwork_.After(time, [this] { store_.is_full = false; });
    } else {
      coordinator_.JumpWall(std::chrono::seconds(fault.detail * 20 - 10'000));
    }
    return true;
  }

  bool HappensToNode(const Fault& fault) {
    SimNode& node = NodeOf(fault);
    const Duration time = Seconds(fault.lasts_s);
    if (fault.kind == FaultKind::kCrashAgent) {
      // Some are told to end, as when a machine is serviced.
      fault.detail % 4 == 0 ? node.StopAgent() : node.CrashAgent();
    }
    if (fault.kind == FaultKind::kStallAgent) node.StallAgent(time);
    if (fault.kind == FaultKind::kRebootNode) node.Reboot();
    if (fault.kind == FaultKind::kFullNode) node.FillDisk(time);
    if (fault.kind == FaultKind::kSickNode) node.Sicken(time);
    if (fault.kind == FaultKind::kLostData) node.LoseData(time);
    return true;
  }

  bool PeopleDo(const Fault& fault) {
    const int64_t sweeps = std::ssize(script_.sweeps);
    const SweepId sweep{1 + fault.detail % sweeps};
    const Duration time = Seconds(fault.lasts_s);
    if (fault.kind == FaultKind::kCancelSweep) {
      return people_.Cancel(fault.detail % sweeps);
    }
    if (fault.kind == FaultKind::kCancelAndRetry) {
      people_.CancelAndRetry(sweep, fault.detail / 8, time / 4);
    } else if (fault.kind == FaultKind::kRetrySweep) {
      people_.Retry(sweep, fault.detail % 2 == 0);
    } else {
      people_.PauseAndResume(sweep, fault.kind == FaultKind::kStopSweep, time);
    }
    return true;
  }

  static bool HappensToTrainer(const Fault& fault,
                               const std::shared_ptr<SimProcess>& trainer) {
    if (!trainer) return false;
    if (fault.kind == FaultKind::kKillTrainer) trainer->Signal(9);
    if (fault.kind == FaultKind::kStallTrainer) {
      trainer->Stall(Seconds(fault.lasts_s));
    }
    if (fault.kind == FaultKind::kBreakTrainer) {
      // Some only measure what cannot be stored.
      fault.detail % 4 == 0 ? trainer->Poison()
                            : trainer->Break("crash", "broke down");
    }
    if (fault.kind == FaultKind::kFaultyDevice) {
      trainer->Break("device", "the device fell off its bus");
    }
    if (fault.kind == FaultKind::kShortMemory) RunsShort(fault, *trainer);
    return true;
  }

  /// Some say so, some only what threw, some are killed for it.
  static void RunsShort(const Fault& fault, SimProcess& trainer) {
    if (fault.detail % 3 == 0) {
      trainer.Break("oom", "another took the memory");
    } else if (fault.detail % 3 == 1) {
      trainer.Break("crash", "std::bad_alloc");
    } else {
      trainer.KillForMemory(fault.detail % 2 == 0);
    }
  }

  const Script& script_;
  Outcome& outcome_;
  std::optional<test::TemporaryFolder> folder_;
  Clockwork clockwork_;
  Chance chance_;
  Oracle oracle_;
  TraceLog log_;
  Network network_;
  Surroundings around_;
  SimStore store_;
  SimCoordinator coordinator_;
  People people_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
};

/// The kind of a violation: what differs between two of it are ids.
std::string KindOf(const std::string& violation) {
  std::string kind;
  for (const char c : violation) {
    if (c < '0' || c > '9') kind += c;
  }
  return kind;
}

}  // namespace

Outcome Play(const Script& script, Plant plant, bool with_trace) {
  Outcome outcome;
  Player player(script, plant, outcome, with_trace);
  try {
    player.Run();
  } catch (const Violation& violation) {
    outcome.violation = violation.what();
  }
  outcome.at_s = player.Elapsed();
  outcome.attempts = player.attempts();
  return outcome;
}

Script Shrink(const Script& script, Plant plant) {
  const auto first = Play(script, plant).violation;
  if (!first) return script;
  Script least = script;
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t f = 0; f < least.faults.size(); ++f) {
      Script without = least;
      without.faults.erase(without.faults.begin() + static_cast<int64_t>(f));
      const auto violation = Play(without, plant).violation;
      if (!violation || KindOf(*violation) != KindOf(*first)) continue;
      least = std::move(without);
      smaller = true;
      break;
    }
  }
  return least;
}

}  // namespace leadline::simulation
