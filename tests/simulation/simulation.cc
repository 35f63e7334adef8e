#include "simulation.h"

#include <memory>
#include <utility>

#include "sim_coordinator.h"
#include "sim_node.h"
#include "sim_store.h"
#include "tests/support/store_world.h"

namespace leadline::simulation {
namespace {

// Of the last fault: waits for a canary grow to half an hour.
constexpr double kQuietWithin_s = 7200;
constexpr double kSpareAfter_s = 300;
constexpr int64_t kSpareMemory = 8 * kGibi;
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
        network_(clockwork_, chance_, std::ssize(script.slots) + 1),
        around_{clockwork_, chance_, network_, oracle_, log_, plant},
        store_(OpenStore(), oracle_, plant),
        coordinator_(around_, store_) {
    std::vector<SimNode*> nodes;
    for (size_t n = 0; n < script.slots.size(); ++n) {
      nodes_.push_back(
          std::make_unique<SimNode>(static_cast<int64_t>(n), script.slots[n],
                                    script.memory[n], around_, coordinator_));
      nodes.push_back(nodes_.back().get());
    }
    if (script.has_failures) {
      spare_ = std::make_unique<SimNode>(std::ssize(script.slots), 1,
                                         kSpareMemory, around_, coordinator_);
      nodes.push_back(spare_.get());
    }
    coordinator_.Connect(std::move(nodes));
  }

  void Run() {
    coordinator_.StartProcess();
    for (const auto& node : nodes_) node->StartAgent();
    for (size_t s = 0; s < script_.sweeps.size(); ++s) {
      clockwork_.After(Seconds(script_.sweeps[s].submitted_at_s), [this, s] {
        coordinator_.Submit(script_.sweeps[s], static_cast<int64_t>(s));
      });
    }
    for (const Fault& fault : script_.faults) {
      clockwork_.After(Seconds(fault.at_s), [this, fault] {
        if (Happens(fault)) ++outcome_.faults[static_cast<size_t>(fault.kind)];
      });
    }
    clockwork_.After(Seconds(script_.faults_end_s + kSpareAfter_s),
                     [this] { AddSpareIfNeeded(); });
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

  /// What ran out of memory while nobody knew who would come back after a
  /// restart waits, and is told to need a larger machine: here is one.
  void AddSpareIfNeeded() {
    if (!spare_ || !oracle_.WaitsForMemory()) return;
    spare_->StartAgent();
    nodes_.push_back(std::move(spare_));
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
    if (coordinator_.unanswered() > 0 || !oracle_.AllEnded()) return false;
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

  bool Happens(const Fault& fault) {
    log_.Write(LogLevel::kInfo, "FAULT", {{"what", ToText(fault)}});
    SimNode& node = *nodes_[static_cast<size_t>(fault.node)];
    const Duration time = Seconds(fault.lasts_s);
    using Trouble = Network::Trouble;
    switch (fault.kind) {
      case FaultKind::kCutLink:
        network_.Begin(Trouble::kCut, fault.node, time);
        coordinator_.CutWiresOf(fault.node);
        return true;
      case FaultKind::kSlowLink:
        if (fault.detail % 2 == 0) {
          FadeLink(fault, time);
        } else {
          network_.Begin(Trouble::kSlow, fault.node, time);
        }
        return true;
      case FaultKind::kDoubledMessages:
        network_.Begin(Trouble::kDoubled, fault.node, time);
        return true;
      case FaultKind::kSwappedMessages:
        network_.Begin(Trouble::kSwapped, fault.node, time);
        return true;
      case FaultKind::kCrashCoordinator:
        if (!coordinator_.IsUp()) return false;
        store_.kill_in = fault.detail % 8;
        store_.kill_after = fault.detail / 8 % 2 == 0;
        return true;
      case FaultKind::kStallCoordinator:
        coordinator_.StallProcess(time);
        return coordinator_.IsUp();
      case FaultKind::kCrashAgent:
        // Some are told to end, as when a machine is serviced.
        if (fault.detail % 4 == 0) {
          node.StopAgent();
        } else {
          node.CrashAgent();
        }
        return true;
      case FaultKind::kStallAgent:
        node.StallAgent(time);
        return true;
      case FaultKind::kRebootNode:
        node.Reboot();
        return true;
      case FaultKind::kKillTrainer:
      case FaultKind::kStallTrainer:
      case FaultKind::kBreakTrainer:
      case FaultKind::kFaultyDevice:
      case FaultKind::kShortMemory:
        return HappensToTrainer(fault, node.Trainer(fault.detail));
      case FaultKind::kFullStore:
        store_.is_full = true;
        clockwork_.After(time, [this] { store_.is_full = false; });
        return true;
      case FaultKind::kFullNode:
        node.FillDisk(time);
        return true;
      case FaultKind::kSickNode:
        node.Sicken(time);
        return true;
      case FaultKind::kWallJump:
        coordinator_.JumpWall(std::chrono::seconds(fault.detail * 20 - 10'000));
        return true;
      case FaultKind::kCancelSweep:
        return coordinator_.Cancel(fault.detail % std::ssize(script_.sweeps));
    }
    return false;
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
    if (fault.kind == FaultKind::kShortMemory) {
      trainer->Break("oom", "another took the memory");
    }
    return true;
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
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::unique_ptr<SimNode> spare_;  // until it is needed
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
