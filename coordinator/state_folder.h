// The folder a coordinator owns while it runs.

#pragma once

#include <filesystem>
#include <string>

#include <absl/status/statusor.h>

namespace leadline {

/// Holds the folder's lock until it is destroyed: make it first, destroy it
/// last. Owned by one thread.
class StateFolder {
 public:
  /// Makes the folder (0700) and takes `lock` in it. FailedPrecondition, with
  /// the process id of the holder, if another coordinator has it.
  static absl::StatusOr<StateFolder> Open(const std::filesystem::path& path);

  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&&) = delete;
  ~StateFolder();

  /// Absolute.
  const std::filesystem::path& path() const { return path_; }

  /// Writes a file of it as a whole or not at all.
  absl::Status WriteFile(const std::string& name, const std::string& text);

 private:
  StateFolder(std::filesystem::path path, int lock)
      : path_(std::move(path)), lock_(lock) {}

  std::filesystem::path path_;
  int lock_;
};

}  // namespace leadline
