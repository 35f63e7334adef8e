#include "logging/bounded_file.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace leadline {
namespace {

namespace fs = std::filesystem;

class BoundedFileTest : public testing::Test {
 protected:
  BoundedFileTest() {
    std::string pattern = (fs::temp_directory_path() / "log-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~BoundedFileTest() override { fs::remove_all(folder_); }

  static std::string Read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

/// No file grows beyond `bytes` while it lives, as on a disk that is full.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(BoundedFileTest, OlderFilesAreKeptUpToTheirNumber) {
  BoundedFile file(folder_ / "x.log", {10, 2});
  for (const char* line : {"one--\n", "two--\n", "three\n", "four-\n"}) {
    EXPECT_TRUE(file.Append(line));
  }
  EXPECT_EQ(Read(folder_ / "x.log"), "four-\n");
  EXPECT_EQ(Read(folder_ / "x.log.1"), "three\n");
  EXPECT_EQ(Read(folder_ / "x.log.2"), "two--\n");
  EXPECT_FALSE(fs::exists(folder_ / "x.log.3"));
  struct stat about {};
  stat((folder_ / "x.log").c_str(), &about);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(BoundedFileTest, GoesOnWithTheFileThatIsThere) {
  std::ofstream(folder_ / "x.log") << "before\n";
  BoundedFile file(folder_ / "x.log", {10, 1});
  EXPECT_TRUE(file.Append("after\n"));
  EXPECT_EQ(Read(folder_ / "x.log"), "after\n");
  EXPECT_EQ(Read(folder_ / "x.log.1"), "before\n");
}

TEST_F(BoundedFileTest, ALineThatDoesNotFitLeavesNothingBehind) {
  BoundedFile file(folder_ / "x.log");
  ASSERT_TRUE(file.Append("first\n"));
  {
    const SmallFiles full(10);
    EXPECT_FALSE(file.Append("second line\n"));
    EXPECT_FALSE(file.Append("third line\n"));
    EXPECT_EQ(Read(folder_ / "x.log"), "first\n");
  }
  EXPECT_TRUE(file.Append("fourth\n"));
  EXPECT_EQ(Read(folder_ / "x.log"), "first\nfourth\n");
}

TEST_F(BoundedFileTest, WithoutItsFolderLinesAreLostUntilItIsBack) {
  fs::create_directory(folder_ / "sub");
  BoundedFile file(folder_ / "sub" / "x.log", {10, 1});
  ASSERT_TRUE(file.Append("first----\n"));
  fs::remove_all(folder_ / "sub");
  file.Append("second---\n");
  file.Append("third----\n");
  EXPECT_FALSE(file.Append("fourth---\n"));
  fs::create_directory(folder_ / "sub");
  EXPECT_TRUE(file.Append("fifth----\n"));
  EXPECT_EQ(Read(folder_ / "sub" / "x.log"), "fifth----\n");
}

TEST_F(BoundedFileTest, ALinkInItsPlaceIsNotFollowed) {
  fs::create_symlink(folder_ / "elsewhere", folder_ / "x.log");
  BoundedFile file(folder_ / "x.log");
  EXPECT_FALSE(file.Open());
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

}  // namespace
}  // namespace leadline
