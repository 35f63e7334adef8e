// What tells a later agent of this state folder that an attempt is held: one
// file in its folder, there from before the trainer starts until the
// coordinator has the attempt's end on disk.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "common/ids.h"

namespace leadline::agent {

/// What the process itself cannot tell.
struct HoldRecord {
  std::vector<std::string> devices;
  std::string dataset_path;
  std::string trainer_device;
  int64_t first_rank = 0;  // of those here
  int64_t ranks = 1;       // here, each with as many of the devices
  int64_t world_size = 1;  // on all nodes
  bool operator==(const HoldRecord&) const = default;
};

/// Writes `held.json`, whole or not at all. Unavailable if the disk says no.
absl::Status WriteHold(const std::filesystem::path& folder,
                       const HoldRecord& record);

/// Null if the attempt is not held, or its file cannot be understood.
std::optional<HoldRecord> ReadHold(const std::filesystem::path& folder);

/// Likewise, also of an attempt that is held no more.
std::optional<HoldRecord> ReadHoldOrTold(const std::filesystem::path& folder);

/// More ranks an attempt does not have.
inline constexpr int64_t kMostRanks = 1024;

/// Nothing more is to be told of it: `held.json` becomes `told.json`. Asked
/// twice, done once.
void ReleaseHold(const std::filesystem::path& folder);

/// True once its hold was released.
bool IsHeld(const std::filesystem::path& folder);
bool IsReleased(const std::filesystem::path& folder);

/// The agent is breaking it off because it ends itself: whatever becomes of the
/// agent meanwhile, that is no failure of the attempt.
void MarkInterrupted(const std::filesystem::path& folder);
bool IsInterrupted(const std::filesystem::path& folder);

/// The attempts of that state folder that are held, in order. Costs one look a
/// folder.
std::vector<AttemptKey> ListHeld(const std::filesystem::path& state);

}  // namespace leadline::agent
