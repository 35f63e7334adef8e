// Event files are the spool between trainers and the coordinator. What of it is
// told for certain is kept for a while, then removed; what is not told, never.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include <absl/status/status.h>

namespace leadline::agent {

struct SpoolPolicy {
  /// No attempt starts with less free space than this.
  int64_t least_free_bytes = 500'000'000;
  /// Event files and logs of attempts whose end is acknowledged, by age and in
  /// all; the oldest go first.
  std::chrono::hours keep{24 * 30};
  int64_t keep_bytes = 20'000'000'000;
};

/// An attempt whose end is acknowledged.
struct ToldAttempt {
  std::filesystem::path folder;
  int64_t bytes = 0;  // of its event file and logs
  std::chrono::system_clock::time_point told_at;
};

/// Folders whose event file and logs are to go now.
std::vector<std::filesystem::path> ChooseForRemoval(
    std::vector<ToldAttempt> told, const SpoolPolicy& policy,
    std::chrono::system_clock::time_point now);

/// The attempts of that state folder whose end is acknowledged and that have an
/// event file or logs. Costs a look a folder.
std::vector<ToldAttempt> ListTold(const std::filesystem::path& state);

/// Removes event file and logs, and the folder where nothing else is in it:
/// checkpoints stay.
void RemoveSpool(const std::filesystem::path& folder);

/// What an attempt needs, in bytes.
struct RoomNeeded {
  int64_t least = 0;        // for whatever it writes
  int64_t checkpoints = 0;  // beside that
};

/// Unavailable, with all figures, unless the folder's file system has that much
/// room.
absl::Status CheckFreeSpace(const std::filesystem::path& folder,
                            const RoomNeeded& needed);

/// What we may still write there; null if the system does not say.
std::optional<int64_t> FreeBytes(const std::filesystem::path& folder);

}  // namespace leadline::agent
