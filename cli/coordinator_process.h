// Starts a private coordinator and hears whether it came up.

#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <sys/types.h>

#include "cli/descriptor.h"

namespace leadline::cli {

/// A child process in a session of its own, which outlives this command. Its
/// standard error goes to STATE/coordinator.err.
class CoordinatorProcess {
 public:
  /// FailedPrecondition if that file cannot be written, Internal if the program
  /// cannot be started.
  static absl::StatusOr<CoordinatorProcess> Start(
      const std::filesystem::path& state, const std::filesystem::path& program);

  enum class Outcome { kReady, kEnded, kTimeout };

  /// Waits for the line that says what it listens on, or for its end.
  Outcome WaitUntilReady(std::chrono::steady_clock::time_point deadline);

  /// What it wrote to standard error, the end of it.
  std::string LastWords() const;

 private:
  std::filesystem::path log_;
  int64_t log_start_ = 0;
  pid_t pid_ = -1;
  Descriptor output_;
};

}  // namespace leadline::cli
