// Each file of tests/data/bad has one fault, and says in its first line where
// it is and how the message goes on: "# expect: LINE:COLUMN: part".

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "coordinator/spec_reader/spec_reader.h"
#include "coordinator/sweep/plan.h"

namespace leadline::spec_reader {
namespace {

std::vector<std::string> BadFiles() {
  std::vector<std::string> names;
  const std::filesystem::path folder = LEADLINE_SOURCE_DIR "/tests/data/bad";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string Contents(const std::string& name) {
  std::ifstream file(LEADLINE_SOURCE_DIR "/tests/data/bad/" + name + ".yaml",
                     std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<sweep::Problem> ProblemsOf(const std::string& text) {
  const Reading reading = ReadSweep(
      text, "/data",
      [](const std::string& path,
         const std::string&) -> absl::StatusOr<DataFacts> {
        return absl::NotFoundError("cannot read " + path + ": no such file");
      },
      [](const std::string& path) -> absl::StatusOr<CheckpointFacts> {
        return absl::NotFoundError("cannot read " + path + ": no such file");
      });
  return reading.ok() ? sweep::MakePlan(reading.sweep).problems
                      : reading.problems;
}

class BadFile : public testing::TestWithParam<std::string> {};

TEST_P(BadFile, IsRefusedAtTheFault) {
  const std::string text = Contents(GetParam());
  const std::string mark = "# expect: ";
  ASSERT_TRUE(text.starts_with(mark));
  const std::string expected =
      text.substr(mark.size(), text.find('\n') - mark.size());
  std::vector<std::string> found;
  for (const sweep::Problem& problem : ProblemsOf(text)) {
    found.push_back(ToText(problem, "f"));
  }
  EXPECT_THAT(found,
              testing::ElementsAre(testing::StartsWith("f:" + expected)));
}

INSTANTIATE_TEST_SUITE_P(All, BadFile, testing::ValuesIn(BadFiles()),
                         [](const auto& info) { return info.param; });

TEST(BadFiles, AreMany) { EXPECT_GE(BadFiles().size(), 30u); }

}  // namespace
}  // namespace leadline::spec_reader
