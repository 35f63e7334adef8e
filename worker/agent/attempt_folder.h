// The folder of one attempt: STATE/attempts/<cohort>@<number>. It outlives the
// attempt with its configuration, logs and events.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include "common/ids.h"

namespace leadline::agent {

/// Where the folder of `attempt` lies; ids are ours, never text of a user.
std::filesystem::path AttemptFolder(const std::filesystem::path& state,
                                    const AttemptKey& attempt);

/// Where the files of one rank lie: of the first one here in the folder of the
/// attempt, of the others in `rank-K` below it.
std::filesystem::path RankFolder(const std::filesystem::path& folder,
                                 int64_t rank, int64_t first_rank);

/// Likewise where nobody says which the first one is: what is there tells.
std::filesystem::path FindRankFolder(const std::filesystem::path& folder,
                                     int64_t rank);

/// The rank whose folder below that of its attempt has that name; null if the
/// name is none of ours.
std::optional<int64_t> RankOfFolder(const std::string& name);

/// Makes it, new and empty. One of that name is left over from an earlier
/// database (nothing in it runs any more): it is moved aside, not touched.
/// Unavailable if the disk says no.
absl::Status MakeAttemptFolder(const std::filesystem::path& folder);

/// Renames a folder to a name that is free beside it: NAME.old-1. Unavailable
/// if the disk says no.
absl::Status MoveAside(const std::filesystem::path& folder);

/// What identifies the trainer of an attempt to a later agent.
struct ProcessRecord {
  std::string boot_id;
  pid_t pid = 0;
  uint64_t start_time = 0;  // ticks after the boot
  pid_t group = 0;
  std::string attempt;
};

/// Writes `process.json`, whole or not at all.
absl::Status WriteProcessRecord(const std::filesystem::path& folder,
                                const ProcessRecord& record);

/// Null if there is none or it cannot be understood.
std::optional<ProcessRecord> ReadProcessRecord(
    const std::filesystem::path& folder);

/// Writes a file of the folder, whole or not at all.
absl::Status WriteFile(const std::filesystem::path& path,
                       const std::string& text);

/// The last `most` bytes of a file; empty if it cannot be read.
std::string ReadEnd(const std::filesystem::path& path, size_t most);

}  // namespace leadline::agent
