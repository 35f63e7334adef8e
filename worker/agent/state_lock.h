// One agent a state folder.

#pragma once

#include <filesystem>

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

 private:
  explicit StateLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace leadline::agent
