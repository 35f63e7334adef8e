// Every file of reference numbers that there is a method for: our own, which
// are always here, and those of the folder LEADLINE_GOLDEN.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/spec/method_table.h"
#include "tests/golden/kinds.h"
#include "tests/golden/own_model.h"
#include "tests/support/paths.h"

namespace leadline::golden {
namespace {

std::vector<std::filesystem::path> FilesIn(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

/// Number of files checked; what is not there yet is not.
int64_t CheckFolder(const std::filesystem::path& folder,
                    torch::ScalarType type) {
  int64_t checked = 0;
  for (const std::filesystem::path& path : FilesIn(folder)) {
    const GoldenFile file(path);
    Tally tally(ToleranceOf(file, type));
    try {
      CheckOf(file.kind())(file, type, tally);
    } catch (const NotThere&) {
      continue;
    }
    ++checked;
    EXPECT_TRUE(tally.passed())
        << path.filename() << ": " << tally.reason() << ", forward "
        << tally.worst_forward() << ", gradient " << tally.worst_gradient();
  }
  return checked;
}

TEST(OwnNumbers, AreReproducedInBothPrecisions) {
  const auto files = static_cast<int64_t>(OwnConfigs().size());
  const auto folder = test::SourceDir() / "tests" / "golden" / "own";
  EXPECT_EQ(CheckFolder(folder, torch::kFloat64), files);
  EXPECT_EQ(CheckFolder(folder, torch::kFloat32), files);
}

TEST(OwnNumbers, CoverEveryMethod) {
  std::set<std::string> covered;
  for (const auto& [name, config] : OwnConfigs()) {
    covered.insert(config.at("method").get<std::string>());
  }
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    EXPECT_TRUE(covered.contains(std::string(method.name)))
        << "no numbers of our own for " << method.name;
  }
}

class GoldenFiles : public ::testing::Test {
 protected:
  /// Empty where there is no such folder.
  static std::string Folder() {
    const char* const folder = std::getenv("LEADLINE_GOLDEN");
    return folder == nullptr ? "" : folder;
  }
};

// Streams, signs, starts, routers, initial values, wirings and models of the
// methods that are there; further methods add to them.
constexpr int64_t kFewestFiles = 139;
constexpr int64_t kFewestRoundedFiles = 117;

TEST_F(GoldenFiles, AreReproducedInFloat64) {
  if (Folder().empty()) GTEST_SKIP() << "LEADLINE_GOLDEN is not set";
  EXPECT_GE(CheckFolder(Folder(), torch::kFloat64), kFewestFiles);
}

TEST_F(GoldenFiles, AreReproducedInFloat32) {
  if (Folder().empty()) GTEST_SKIP() << "LEADLINE_GOLDEN is not set";
  EXPECT_GE(CheckFolder(Folder(), torch::kFloat32), kFewestRoundedFiles);
}

TEST_F(GoldenFiles, CoverEveryMethodOfTheTable) {
  if (Folder().empty()) GTEST_SKIP() << "LEADLINE_GOLDEN is not set";
  std::map<std::string, int64_t> files;
  for (const std::filesystem::path& path : FilesIn(Folder())) {
    const nlohmann::json config = GoldenFile(path).config();
    if (config.contains("method")) {
      ++files[config.at("method").get<std::string>()];
    }
  }
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    EXPECT_GT(files[std::string(method.name)], 0)
        << "no reference numbers for " << method.name;
  }
}

}  // namespace
}  // namespace leadline::golden
