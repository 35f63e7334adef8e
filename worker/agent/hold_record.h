// What tells a later agent of this state folder that an attempt is held: one
// file in its folder, there from before the trainer starts until the
// coordinator has the attempt's end on disk.

#pragma once

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
  bool operator==(const HoldRecord&) const = default;
};

/// Writes `held.json`, whole or not at all. Unavailable if the disk says no.
absl::Status WriteHold(const std::filesystem::path& folder,
                       const HoldRecord& record);

/// Null if the attempt is not held, or its file cannot be understood.
std::optional<HoldRecord> ReadHold(const std::filesystem::path& folder);

/// Nothing more is to be told of it: `held.json` becomes `told.json`. Asked
/// twice, done once.
void ReleaseHold(const std::filesystem::path& folder);

/// True once its hold was released.
bool IsReleased(const std::filesystem::path& folder);

/// The agent is breaking it off because it ends itself: whatever becomes of the
/// agent meanwhile, that is no failure of the attempt.
void MarkInterrupted(const std::filesystem::path& folder);
bool IsInterrupted(const std::filesystem::path& folder);

/// The attempts of that state folder that are held, in order. Costs one look a
/// folder.
std::vector<AttemptKey> ListHeld(const std::filesystem::path& state);

}  // namespace leadline::agent
