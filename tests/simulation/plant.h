// Defects to plant, by name: each is what a fault in the programs would look
// like from outside, and the oracle must find it.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace leadline::simulation {

enum class Plant {
  kNone,
  kFenceOff,
  kAcknowledgeBeforeCommit,
  kFullDiskIgnored,
  kWallClockInLeases,
  kGraceIgnored,
  kCounterInsteadOfSet,
  kFinishedTrialsForgotten,
  kRequestIdsIgnored,
  kDeviceReleasedTooSoon,
  kLeftoversLeft,
  kSilenceIgnored,
  kUnacknowledgedSkipped,
  kEndToldOnce,
  kTriesForgotten,
  kQuarantineIgnored,
  kCanaryForgotten,
  kRowForgotten,
  kPauseForgotten,
  kStopForgotten,
  kTriesKeptByRetry,
  kEvidenceIgnored,
  kPartEndUntold,
  kRanksNotMissed,
  kErrandForgotten,
};

struct PlantInfo {
  Plant plant;
  std::string_view name;
  std::string_view defect;
};

inline constexpr std::array kPlants = {
    PlantInfo{Plant::kFenceOff, "fence_off",
              "what a superseded attempt says is taken for the live one's"},
    PlantInfo{Plant::kAcknowledgeBeforeCommit, "acknowledge_before_commit",
              "a commit answers before it is durable"},
    PlantInfo{Plant::kFullDiskIgnored, "full_disk_ignored",
              "a commit that found no room answers that all is well"},
    PlantInfo{Plant::kWallClockInLeases, "wall_clock_in_leases",
              "leases run on the clock that people set"},
    PlantInfo{Plant::kGraceIgnored, "grace_ignored",
              "another attempt starts as soon as a lease has ended"},
    PlantInfo{Plant::kCounterInsteadOfSet, "counter_instead_of_set",
              "a sweep is complete after as many ends as it has trials"},
    PlantInfo{Plant::kFinishedTrialsForgotten, "finished_trials_forgotten",
              "a restart takes trials that have ended for queued"},
    PlantInfo{Plant::kRequestIdsIgnored, "request_ids_ignored",
              "a request that is repeated is carried out again"},
    PlantInfo{Plant::kDeviceReleasedTooSoon, "device_released_too_soon",
              "a device is free before the processes on it have ended"},
    PlantInfo{Plant::kLeftoversLeft, "leftovers_left",
              "an agent starts beside the trainers of the one before"},
    PlantInfo{Plant::kSilenceIgnored, "silence_ignored",
              "a trainer that hears nothing goes on"},
    PlantInfo{Plant::kUnacknowledgedSkipped, "unacknowledged_skipped",
              "after a reconnect records go on where they were sent, not "
              "where they were stored"},
    PlantInfo{Plant::kEndToldOnce, "end_told_once",
              "the end of an attempt is not told again"},
    PlantInfo{Plant::kTriesForgotten, "tries_forgotten",
              "a restart forgets how often cohorts have failed"},
    PlantInfo{Plant::kQuarantineIgnored, "quarantine_ignored",
              "a broken machine gets work as before"},
    PlantInfo{Plant::kCanaryForgotten, "canary_forgotten",
              "after a restart a node in quarantine gets a second canary"},
    PlantInfo{Plant::kRowForgotten, "row_forgotten",
              "a restart begins the row of failed trials of a sweep anew"},
    PlantInfo{Plant::kPauseForgotten, "pause_forgotten",
              "a restart takes a paused sweep for an active one"},
    PlantInfo{Plant::kStopForgotten, "stop_forgotten",
              "a restart forgets that an attempt was asked to stop"},
    PlantInfo{Plant::kTriesKeptByRetry, "tries_kept_by_retry",
              "what people retry has no more tries than it had"},
    PlantInfo{Plant::kEvidenceIgnored, "evidence_ignored",
              "what the kernel and the disk say of the end of a trainer is "
              "not looked at"},
    PlantInfo{Plant::kPartEndUntold, "part_end_untold",
              "a lost part does not end its attempt"},
    PlantInfo{Plant::kRanksNotMissed, "ranks_not_missed",
              "ranks go on without one that is gone"},
    PlantInfo{Plant::kErrandForgotten, "errand_forgotten",
              "a restart forgets what was begun and not done"},
};

/// Null unless there is such a name.
inline std::optional<Plant> FindPlant(std::string_view name) {
  for (const PlantInfo& info : kPlants) {
    if (info.name == name) return info.plant;
  }
  return std::nullopt;
}

}  // namespace leadline::simulation
