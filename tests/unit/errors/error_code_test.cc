#include "errors/error_code.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/paths.h"

namespace leadline {
namespace {

TEST(ErrorTable, HasEachCodeOnceWithWordsForPeople) {
  std::set<ErrorCode> codes;
  std::set<std::string_view> names;
  for (const ErrorRow& row : ErrorTable()) {
    EXPECT_TRUE(codes.insert(row.code).second) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(ReadErrorCode(row.name), row.code);
    EXPECT_FALSE(row.meaning.empty() || row.advice.empty()) << row.name;
    EXPECT_EQ(row.meaning.find('|'), std::string_view::npos) << row.name;
    EXPECT_EQ(row.advice.find('|'), std::string_view::npos) << row.name;
  }
  EXPECT_EQ(codes.size(), static_cast<size_t>(ErrorCode::kInterrupted) + 1);
}

TEST(ErrorTable, UsesTheDocumentedExitCodesAlone) {
  const std::set<int> documented = {1, 2, 3, 4, 5, 6, 7, 130};
  std::set<int> used;
  for (const ErrorRow& row : ErrorTable()) used.insert(row.exit_code);
  EXPECT_EQ(used, documented);
}

TEST(ErrorOf, TakesTheNotedOneAndElseWhatTheStatusStandsFor) {
  const absl::Status plain = absl::FailedPreconditionError("x");
  EXPECT_EQ(ErrorOf(plain), ErrorCode::kConflict);
  const absl::Status noted = WithError(plain, ErrorCode::kNewerSchema);
  EXPECT_EQ(ErrorOf(noted), ErrorCode::kNewerSchema);
  EXPECT_EQ(ErrorOf(WithError(noted, ErrorCode::kDiskFull)),
            ErrorCode::kNewerSchema)
      << "the first stands: it knows most";
  EXPECT_TRUE(WithError(absl::OkStatus(), ErrorCode::kDiskFull).ok());
  for (int code = 1; code <= 16; ++code) {
    const auto row =
        RowOf(ErrorOf(absl::Status(static_cast<absl::StatusCode>(code), "x")));
    EXPECT_GT(row.exit_code, 0);
  }
}

TEST(LastWords, NameTheCodeAndReadBack) {
  const absl::Status status = WithError(
      absl::UnavailableError("no room [at all]"), ErrorCode::kDiskFull);
  EXPECT_EQ(LastWords("leadline-agent", status),
            "leadline-agent: no room [at all] [disk_full]\n");
  EXPECT_EQ(LastWords("x", absl::InvalidArgumentError("a\n\x1b[2J")),
            "x: a\\n\\x1b[2J [misuse]\n");
  EXPECT_EQ(ReadLastWords("other\nx: y [disk_full]\n"), ErrorCode::kDiskFull);
  for (const char* text : {"", "\n", "]", " []", "x [", "x [y]", "x: y"}) {
    EXPECT_EQ(ReadLastWords(text), std::nullopt) << text;
  }
  EXPECT_EQ(ServiceExitCode(status), 1);
  EXPECT_EQ(ServiceExitCode(absl::InvalidArgumentError("x")), 2);
  EXPECT_EQ(ServiceExitCode(absl::UnauthenticatedError("x")), 5);
  EXPECT_EQ(ServiceExitCode(absl::PermissionDeniedError("x")), 5);
  EXPECT_EQ(ServiceExitCode(absl::UnavailableError("x")), 1);
}

TEST(ErrorPage, IsWhatTheDocumentsSay) {
  const auto path = test::SourceDir() / "docs" / "errors.md";
  if (std::getenv("LEADLINE_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << ErrorPage();
  }
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), ErrorPage())
      << "LEADLINE_UPDATE_DOCS=1 build/tests/errors_test writes it anew";
}

}  // namespace
}  // namespace leadline
