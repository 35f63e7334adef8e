// What goes wrong in one schedule, and when: drawn from its seed beforehand, so
// that single faults can be left out and the rest played again.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::simulation {

enum class FaultKind {
  kCutLink,           // nothing passes between node and coordinator
  kSlowLink,          // messages take seconds, or most of a minute
  kDoubledMessages,   // some messages arrive twice
  kSwappedMessages,   // some messages overtake the one before
  kCrashCoordinator,  // at a commit, before or after it
  kStallCoordinator,  // stopped, then goes on
  kCrashAgent,
  kStallAgent,
  kRebootNode,
  kKillTrainer,
  kStallTrainer,
  kBreakTrainer,  // ends with a failure of its own
  kFullStore,     // the coordinator's disk refuses
  kFullNode,      // the node's disk refuses
  kWallJump,      // of the coordinator's wall clock
  kCancelSweep,   // by its user, or one of its cells or trials
  kSickNode,      // trainers crash as they start there
  kFaultyDevice,  // ends a trainer
  kShortMemory,   // likewise
  kLostData,      // what trainers train on is not there
  // Commands of people:
  kPauseSweep,      // and resume it at the end
  kStopSweep,       // likewise, what runs is stopped
  kCancelAndRetry,  // a sweep, a cell or a trial
  kRetrySweep,      // what failed, or was cancelled too
  kRemoveSweep,     // as soon as it has ended
};

inline constexpr std::array kFaultKinds = {
    FaultKind::kCutLink,          FaultKind::kSlowLink,
    FaultKind::kDoubledMessages,  FaultKind::kSwappedMessages,
    FaultKind::kCrashCoordinator, FaultKind::kStallCoordinator,
    FaultKind::kCrashAgent,       FaultKind::kStallAgent,
    FaultKind::kRebootNode,       FaultKind::kKillTrainer,
    FaultKind::kStallTrainer,     FaultKind::kBreakTrainer,
    FaultKind::kFullStore,        FaultKind::kFullNode,
    FaultKind::kWallJump,         FaultKind::kCancelSweep,
    FaultKind::kSickNode,         FaultKind::kFaultyDevice,
    FaultKind::kShortMemory,      FaultKind::kLostData,
    FaultKind::kPauseSweep,       FaultKind::kStopSweep,
    FaultKind::kCancelAndRetry,   FaultKind::kRetrySweep,
    FaultKind::kRemoveSweep};

std::string_view Name(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kCutLink;
  double at_s = 0;
  double lasts_s = 0;  // where it has an end
  int64_t node = 0;    // where it has a place
  int64_t detail = 0;  // of its kind: which trainer, how many commits on
};

std::string ToText(const Fault& fault);

/// What becomes of attempts at a cell, whatever the machine; its depth.
enum class CellWork : int64_t {
  kSound = 2,
  kBroken = 3,  // its trainers crash
  kHungry = 4,  // they run out of little memory
};

constexpr int64_t kGibi = int64_t{1} << 30;
constexpr int64_t kHungryNeeds = 3 * kGibi;

struct SweepPlan {
  std::vector<CellWork> cells;
  int64_t seeds = 1;
  int64_t cohort_size = 1;
  int64_t parallel_limit = 0;  // 0: none
  double submitted_at_s = 0;
  int64_t failure_limit = 0;      // 0: none
  int64_t failure_row_limit = 0;  // 0: none
  bool finishes = false;          // what runs when a limit is reached
  int64_t ranks = 1;              // of each attempt
};

/// One schedule.
struct Script {
  uint64_t seed = 0;
  std::vector<int64_t> slots;   // one a node
  std::vector<int64_t> memory;  // likewise, of each slot; 0: it does not say
  std::vector<SweepPlan> sweeps;
  std::vector<Fault> faults;  // in order of time
  double faults_end_s = 0;    // nothing goes wrong later
  bool has_failures = false;  // some of the code or the machines are broken
  bool sqlite = false;        // the store is the real one
};

Script DrawScript(uint64_t seed);

}  // namespace leadline::simulation
