#include "cli/sweep_file.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "cli/problems.h"

namespace leadline::cli {
namespace {

namespace fs = std::filesystem;

class SweepFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name =
        (fs::temp_directory_path() / "sweep_file_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  fs::path folder_;
};

TEST_F(SweepFile, IsSentAsItIsWithItsFolder) {
  const auto request = ReadSweepFile(Write("a.yaml", "leadline: 1\n"));
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->text(), "leadline: 1\n");
  EXPECT_EQ(request->base_folder(), folder_.string());
  EXPECT_EQ(request->request_id().size(), 32U);
}

TEST_F(SweepFile, GetsAnotherRequestIdEachTime) {
  EXPECT_NE(FreshRequestId(), FreshRequestId());
}

TEST_F(SweepFile, ThatIsNotUtf8IsRefusedWithThePlace) {
  const std::string path = Write("a.yaml", "name: ö\nx: ä\xff\n");
  const auto request = ReadSweepFile(path);
  const auto problems = ProblemsOf(request.status());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(ProblemLine(problems[0]),
            path + ":2:5: found the byte 0xff, expected UTF-8 text");
}

TEST_F(SweepFile, ThatCannotBeReadIsMisuse) {
  EXPECT_TRUE(absl::IsInvalidArgument(ReadSweepFile("/no/such").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadSweepFile(folder_).status()));
  const auto large = Write("large.yaml", std::string(1100000, ' '));
  EXPECT_TRUE(absl::IsInvalidArgument(ReadSweepFile(large).status()));
}

}  // namespace
}  // namespace leadline::cli
