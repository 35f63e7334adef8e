// A folder of one test's own, gone with it.

#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <stdlib.h>

namespace leadline {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string text =
        (std::filesystem::temp_directory_path() / "leadline-XXXXXX").string();
    EXPECT_NE(mkdtemp(text.data()), nullptr);
    path_ = text;
  }
  ~ScratchFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void Append(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

}  // namespace leadline
