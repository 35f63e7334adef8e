// The folder a coordinator owns while it runs.

#pragma once

#include <filesystem>
#include <string>

#include <absl/status/statusor.h>
#include <unistd.h>

#include "common/network_file_system.h"

namespace leadline {

/// Holds the folder's lock until it is destroyed: make it first, destroy it
/// last. Owned by one thread.
class StateFolder {
 public:
  /// Makes the folder (0700) and takes `lock` in it. FailedPrecondition, with
  /// the process id of the holder, if another coordinator has it, for a network
  /// file system unless that is allowed, and for root (as whom `user` says it
  /// acts) where the folder is somebody else's.
  static absl::StatusOr<StateFolder> Open(
      const std::filesystem::path& path, bool allow_network = false,
      const FileSystemType& type = ReadFileSystemType, uid_t user = geteuid());

  /// Whether `Open` could make or take the folder, as far as can be told
  /// without changing anything: nothing is said of who holds it now.
  static absl::Status Check(const std::filesystem::path& path,
                            bool allow_network = false,
                            const FileSystemType& type = ReadFileSystemType,
                            uid_t user = geteuid());

  /// As `Open`, of a caller that waits for the private coordinator of a command
  /// that has ended, which is about to end itself.
  static absl::StatusOr<StateFolder> OpenSoon(const std::filesystem::path& path,
                                              bool allow_network = false);

  StateFolder(StateFolder&& other) noexcept;
  StateFolder& operator=(StateFolder&&) = delete;
  ~StateFolder();

  /// No write-ahead log may be used in it.
  bool is_on_network() const { return is_on_network_; }

  /// Absolute.
  const std::filesystem::path& path() const { return path_; }

  /// Writes a file of it as a whole or not at all.
  absl::Status WriteFile(const std::string& name, const std::string& text);

 private:
  StateFolder(std::filesystem::path path, int lock, bool is_on_network)
      : path_(std::move(path)), lock_(lock), is_on_network_(is_on_network) {}

  std::filesystem::path path_;
  int lock_;
  bool is_on_network_;
};

}  // namespace leadline
