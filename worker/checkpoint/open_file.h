// A file or folder that is open, and closed with its owner.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace leadline::checkpoint {

/// Throws std::system_error where the disk says no. Owned by one thread.
class OpenFile {
 public:
  /// Takes over the descriptor; `path` is for messages.
  OpenFile(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile();

  /// A folder to read in; the path may lead through links.
  static OpenFile Folder(const std::filesystem::path& path);
  /// A regular file of an open folder, to read; `name` has no slash and is no
  /// link. Throws BadCheckpoint if it is anything else, or is not there.
  static OpenFile In(const OpenFile& folder, const std::string& name);
  /// A new file of a folder, to write.
  static OpenFile New(const std::filesystem::path& path);

  int descriptor() const { return descriptor_; }
  const std::filesystem::path& path() const { return path_; }

  int64_t Bytes() const;
  /// Fills `size` bytes from where the last read ended; throws BadCheckpoint if
  /// the file ends before.
  void Read(char* to, int64_t size) const;
  void Write(std::string_view bytes) const;
  void Sync() const;

 private:
  int descriptor_;
  std::filesystem::path path_;
};

}  // namespace leadline::checkpoint
