// One agent a state folder.

#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include <absl/status/statusor.h>

#include "worker/agent/file_descriptor.h"

namespace leadline::agent {

/// Makes the folder (0700) if it is not there and holds `agent.lock` in it
/// until destroyed, or until the process ends however it ends. Apart from the
/// coordinator's lock, so that both may live in one folder.
class StateLock {
 public:
  /// FailedPrecondition, naming the holder's process id, if another has it.
  static absl::StatusOr<StateLock> Take(const std::filesystem::path& state);

  /// Writes down which agent has the folder and returns the one before, empty
  /// if none is known. While the lock is held that one is certainly dead.
  std::string Succeed(const std::string& instance) const;

 private:
  StateLock(FileDescriptor file, std::filesystem::path state)
      : file_(std::move(file)), state_(std::move(state)) {}

  FileDescriptor file_;
  std::filesystem::path state_;
};

}  // namespace leadline::agent
