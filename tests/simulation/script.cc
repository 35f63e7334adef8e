#include "script.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "chance.h"

namespace leadline::simulation {
namespace {

constexpr double kFaultsBegin_s = 2;
constexpr double kFaultsLast_s = 150;
constexpr double kCutLast_s = 100;  // after a link has faded
constexpr double kJustBefore_s = 0.0001;
constexpr int64_t kSqliteEvery = 50;
constexpr uint64_t kFailureDraws = 0x51ed270b7a3f9d4c;
constexpr uint64_t kCommandDraws = 0x9e3779b97f4a7c15;
constexpr uint64_t kRankDraws = 0x2545f4914f6cdd1d;
constexpr uint64_t kRemovalDraws = 0x6a09e667f3bcc909;
constexpr uint64_t kCrashDraws = 0xbb67ae8584caa73b;

// Those that only a part of the schedules has come last.
constexpr int64_t kRemovals = 1;
constexpr int64_t kCommands = 4;
constexpr int64_t kFailureFaults = 4;
constexpr int64_t kFirstRemoval = std::ssize(kFaultKinds) - kRemovals;
constexpr int64_t kFirstCommand = kFirstRemoval - kCommands;
constexpr int64_t kOtherFaults = kFirstCommand - kFailureFaults;

Fault DrawFault(Chance& chance, int64_t nodes, int64_t first, int64_t kinds) {
  Fault fault;
  fault.kind = kFaultKinds[static_cast<size_t>(first + chance.Below(kinds))];
  fault.at_s = chance.Between(kFaultsBegin_s, kFaultsLast_s);
  // Most are short, some outlast a lease and its grace.
  fault.lasts_s =
      chance.Happens(0.6) ? chance.Between(0.1, 12) : chance.Between(12, 120);
  fault.node = chance.Below(nodes);
  fault.detail = chance.Below(1000);
  return fault;
}

/// What people do beside it.
void AddCommands(Chance& chance, Script& script) {
  for (int64_t n = 1 + chance.Below(3); n > 0; --n) {
    script.faults.push_back(
        DrawFault(chance, std::ssize(script.slots), kFirstCommand, kCommands));
  }
}

/// The coordinator dies while it does what people have just asked for.
void AddCrashesAtCommands(Chance& chance, Script& script) {
  const std::vector<Fault> faults = script.faults;
  for (const Fault& fault : faults) {
    const auto kind = std::ranges::find(kFaultKinds, fault.kind);
    if (kind - kFaultKinds.begin() < kFirstCommand) continue;
    if (!chance.Happens(0.5)) continue;
    Fault crash = DrawFault(chance, std::ssize(script.slots), 0, 1);
    crash.kind = FaultKind::kCrashCoordinator;
    crash.at_s = fault.at_s - kJustBefore_s;
    script.faults.push_back(crash);
  }
}

/// Long enough for a successor to start beside a trainer that lives on.
Fault DrawLongSilence(Chance& chance, int64_t nodes) {
  Fault fault = DrawFault(chance, nodes, 0, 1);
  fault.kind = FaultKind::kStallAgent;
  fault.at_s = chance.Between(kFaultsBegin_s, kFaultsLast_s / 2);
  fault.lasts_s = chance.Between(60, 120);
  return fault;
}

SweepPlan DrawSweep(Chance& chance) {
  SweepPlan sweep;
  sweep.cells.assign(static_cast<size_t>(1 + chance.Below(4)),
                     CellWork::kSound);
  sweep.seeds = 1 + chance.Below(3);
  sweep.cohort_size = 1 + chance.Below(sweep.seeds);
  sweep.parallel_limit = chance.Happens(0.3) ? 1 + chance.Below(3) : 0;
  sweep.submitted_at_s = chance.Between(0, 40);
  return sweep;
}

CellWork DrawWork(Chance& chance) {
  if (chance.Happens(0.5)) return CellWork::kSound;
  return chance.Happens(0.7) ? CellWork::kBroken : CellWork::kHungry;
}

/// Broken code, broken machines and limits of what may fail.
void AddFailures(Chance& chance, Script& script) {
  script.has_failures = true;
  for (SweepPlan& sweep : script.sweeps) {
    if (chance.Happens(0.4)) sweep.failure_limit = 1 + chance.Below(4);
    if (chance.Happens(0.6)) sweep.failure_row_limit = 1 + chance.Below(4);
    sweep.finishes = chance.Happens(0.5);
    sweep.cells.resize(sweep.cells.size() +
                       static_cast<size_t>(chance.Below(3)));
    for (CellWork& work : sweep.cells) work = DrawWork(chance);
  }
  for (int64_t& memory : script.memory) memory = kGibi * chance.Below(5);
  for (int64_t n = chance.Below(6); n > 0; --n) {
    script.faults.push_back(DrawFault(chance, std::ssize(script.slots),
                                      kOtherFaults, kFailureFaults));
  }
  // What failures have led to must outlast the coordinator.
  for (int64_t n = chance.Below(4); n > 0; --n) {
    script.faults.push_back(DrawFault(chance, std::ssize(script.slots), 0, 1));
    script.faults.back().kind = FaultKind::kCrashCoordinator;
  }
}

/// Sweeps whose attempts have several ranks, as many as fit on all nodes at the
/// most, and trouble among their trainers.
void AddRanks(Chance& chance, Script& script) {
  if (script.slots.size() < 3 && chance.Happens(0.5)) {
    script.slots.push_back(1 + chance.Below(2));
    script.memory.push_back(script.memory.back());
  }
  const int64_t slots =
      std::accumulate(script.slots.begin(), script.slots.end(), int64_t{0});
  for (SweepPlan& sweep : script.sweeps) {
    if (chance.Happens(0.6)) {
      sweep.ranks = std::min(slots, 2 + chance.Below(3));
    }
  }
  for (int64_t n = 1 + chance.Below(3); n > 0; --n) {
    Fault fault = DrawFault(chance, std::ssize(script.slots), 0, 1);
    fault.kind = chance.Happens(0.6) ? FaultKind::kKillTrainer
                                     : FaultKind::kStallTrainer;
    script.faults.push_back(fault);
  }
}

}  // namespace

std::string_view Name(FaultKind kind) {
  switch (kind) {
    case FaultKind::kCutLink:
      return "cut_link";
    case FaultKind::kSlowLink:
      return "slow_link";
    case FaultKind::kDoubledMessages:
      return "doubled_messages";
    case FaultKind::kSwappedMessages:
      return "swapped_messages";
    case FaultKind::kCrashCoordinator:
      return "crash_coordinator";
    case FaultKind::kStallCoordinator:
      return "stall_coordinator";
    case FaultKind::kCrashAgent:
      return "crash_agent";
    case FaultKind::kStallAgent:
      return "stall_agent";
    case FaultKind::kRebootNode:
      return "reboot_node";
    case FaultKind::kKillTrainer:
      return "kill_trainer";
    case FaultKind::kStallTrainer:
      return "stall_trainer";
    case FaultKind::kBreakTrainer:
      return "break_trainer";
    case FaultKind::kFullStore:
      return "full_store";
    case FaultKind::kFullNode:
      return "full_node";
    case FaultKind::kWallJump:
      return "wall_jump";
    case FaultKind::kCancelSweep:
      return "cancel_sweep";
    case FaultKind::kSickNode:
      return "sick_node";
    case FaultKind::kFaultyDevice:
      return "faulty_device";
    case FaultKind::kShortMemory:
      return "short_memory";
    case FaultKind::kLostData:
      return "lost_data";
    case FaultKind::kPauseSweep:
      return "pause_sweep";
    case FaultKind::kStopSweep:
      return "stop_sweep";
    case FaultKind::kCancelAndRetry:
      return "cancel_and_retry";
    case FaultKind::kRetrySweep:
      return "retry_sweep";
    case FaultKind::kRemoveSweep:
      return "remove_sweep";
  }
  return "";
}

std::string ToText(const Fault& fault) {
  char line[128];
  std::snprintf(line, sizeof line, "%7.2f s  %-18s node %d  for %.1f s  (%d)",
                fault.at_s, std::string(Name(fault.kind)).c_str(),
                static_cast<int>(fault.node), fault.lasts_s,
                static_cast<int>(fault.detail));
  return line;
}

Script DrawScript(uint64_t seed) {
  Chance chance(seed);
  Script script;
  script.seed = seed;
  script.sqlite = seed % kSqliteEvery == kSqliteEvery - 1;
  for (int64_t n = 1 + chance.Below(3); n > 0; --n) {
    script.slots.push_back(1 + chance.Below(2));
  }
  for (int64_t n = 1 + chance.Below(3); n > 0; --n) {
    script.sweeps.push_back(DrawSweep(chance));
  }
  for (int64_t n = 1 + chance.Below(10); n > 0; --n) {
    script.faults.push_back(
        DrawFault(chance, std::ssize(script.slots), 0, kOtherFaults));
  }
  script.memory.assign(script.slots.size(), kHungryNeeds);
  // Drawn apart: the rest of a schedule is the same with it and without.
  Chance failures(seed ^ kFailureDraws);
  if (failures.Happens(0.5)) {
    AddFailures(failures, script);
  } else if (failures.Happens(0.5)) {
    script.faults.push_back(
        DrawLongSilence(failures, std::ssize(script.slots)));
  }
  Chance commands(seed ^ kCommandDraws);
  if (commands.Happens(0.4)) AddCommands(commands, script);
  Chance ranks(seed ^ kRankDraws);
  if (ranks.Happens(0.4)) AddRanks(ranks, script);
  Chance removals(seed ^ kRemovalDraws);
  if (removals.Happens(0.3)) {
    script.faults.push_back(DrawFault(removals, std::ssize(script.slots),
                                      kFirstRemoval, kRemovals));
  }
  Chance crashes(seed ^ kCrashDraws);
  AddCrashesAtCommands(crashes, script);
  std::ranges::sort(script.faults, {}, &Fault::at_s);
  for (const Fault& fault : script.faults) {
    script.faults_end_s =
        std::max(script.faults_end_s, fault.at_s + fault.lasts_s + kCutLast_s);
  }
  return script;
}

}  // namespace leadline::simulation
