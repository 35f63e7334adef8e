// Starts the trainer of an attempt in a process group of its own.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace leadline::agent {

struct TrainerLaunch {
  std::filesystem::path program;
  std::filesystem::path folder;  // holds config.json; logs and events go there
  int64_t threads = 1;           // CPU threads its libraries may use
  std::vector<std::string> gpus = {};  // UUIDs of those it sees; no others
};

inline constexpr std::string_view kAttemptFolderVariable =
    "LEADLINE_ATTEMPT_FOLDER";

/// The environment variable by which a later agent knows our processes, also
/// those that left their group or were never recorded.
std::string AttemptVariable(const std::filesystem::path& folder);

/// The process id, which is its session's and group's too. It inherits no
/// descriptor, reads from /dev/null and writes `stdout.log` and `stderr.log`.
/// It is not bound to the life of the agent. FailedPrecondition if the program
/// cannot be executed.
absl::StatusOr<pid_t> LaunchTrainer(const TrainerLaunch& launch);

}  // namespace leadline::agent
