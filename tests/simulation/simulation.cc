#include "simulation.h"

#include <memory>
#include <utility>

#include "fault_maker.h"
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
        oracle_(clockwork_),
        log_(clockwork_, with_trace ? &outcome.trace : nullptr),
        network_(clockwork_, chance_, std::ssize(script.slots)),
        around_{clockwork_, chance_, network_, oracle_, log_, gangs_, plant},
        store_(OpenStore(), oracle_, plant),
        coordinator_(around_, store_),
        people_(around_, coordinator_),
        faults_(around_, store_, coordinator_, people_, nodes_,
                std::ssize(script.sweeps)) {
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
        if (faults_.Happens(fault))
          ++outcome_.faults[static_cast<size_t>(fault.kind)];
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

  const Script& script_;
  Outcome& outcome_;
  std::optional<test::TemporaryFolder> folder_;
  Clockwork clockwork_;
  Chance chance_;
  Oracle oracle_;
  TraceLog log_;
  Network network_;
  SimGangs gangs_;
  Surroundings around_;
  SimStore store_;
  SimCoordinator coordinator_;
  People people_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  FaultMaker faults_;
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
