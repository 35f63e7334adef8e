// A folder that is there whole or not at all.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace leadline::checkpoint {

/// In the name of a folder that is no checkpoint yet, or none any more.
inline constexpr std::string_view kUnfinished = ".unfinished-";

/// Files gather in a folder of another name, which is renamed once all of them
/// are on disk. Throws std::system_error; what is unfinished goes with its
/// owner. Owned by one thread.
class NewFolder {
 public:
  /// `folder` must not be there; its parent is made where it is missing.
  explicit NewFolder(std::filesystem::path folder);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  /// A file of it, before the folder has its name.
  std::filesystem::path File(std::string_view name) const;

  /// Writes and syncs a small file.
  void WriteFile(std::string_view name, std::string_view bytes) const;

  /// Gives the folder its name. Its files are on disk already.
  void Publish();

 private:
  std::filesystem::path folder_;
  std::string parts_;
  bool done_ = false;
};

}  // namespace leadline::checkpoint
