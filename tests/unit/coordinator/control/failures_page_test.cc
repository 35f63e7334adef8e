// docs/failures.md says what the tables in the code say.

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/control/failure_policy.h"
#include "coordinator/control/policy.h"
#include "tests/support/paths.h"

namespace leadline::control {
namespace {

using testing::HasSubstr;

std::string Page() {
  std::ifstream page(test::SourceDir() / "docs/failures.md");
  return {std::istreambuf_iterator<char>(page), {}};
}

std::vector<std::string> CellsOf(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream parts(row.substr(1));
  for (std::string cell; std::getline(parts, cell, '|');) {
    const size_t first = cell.find_first_not_of(' ');
    const size_t last = cell.find_last_not_of(' ');
    cells.push_back(
        first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

/// Rows that begin with a kind, by kind.
std::map<std::string, std::vector<std::string>> Rows() {
  std::map<std::string, std::vector<std::string>> rows;
  std::istringstream page(Page());
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    const auto cells = CellsOf(line);
    const std::string kind = cells.at(0).substr(1, cells.at(0).size() - 2);
    if (ParseFailureKind(kind)) rows[kind] = cells;
  }
  return rows;
}

std::string Text(RetryWhere where) {
  switch (where) {
    case RetryWhere::kNowhere:
      return "never";
    case RetryWhere::kAnywhere:
      return "anywhere";
    case RetryWhere::kOnOtherNode:
      return "on nodes where it has not failed";
    case RetryWhere::kWithMoreMemory:
      return "where the devices have more memory";
  }
  return "";
}

std::string Text(Blame blame) {
  switch (blame) {
    case Blame::kNone:
      return "no";
    case Blame::kWhenRepeated:
      return "when repeated";
    case Blame::kAtOnce:
      return "at once";
  }
  return "";
}

std::string Text(double value) {
  return std::to_string(static_cast<int64_t>(value));
}

std::string Waits(const FailurePolicy& row) {
  if (row.first_backoff <= Seconds{0}) return "none";
  return Text(row.first_backoff.count()) + " s, " +
         Text(row.longest_backoff.count()) + " s";
}

TEST(FailuresPage, HasTheRowOfEachKind) {
  const auto rows = Rows();
  EXPECT_EQ(rows.size(), kFailureKinds.size());
  for (const FailureKind kind : kFailureKinds) {
    const FailurePolicy& policy = PolicyOf(kind);
    const auto row = rows.find(std::string(Name(kind)));
    ASSERT_NE(row, rows.end()) << Name(kind);
    const std::vector<std::string>& cells = row->second;
    ASSERT_GE(cells.size(), 6U) << Name(kind);
    EXPECT_EQ(cells[2], Text(policy.retry)) << Name(kind);
    EXPECT_EQ(cells[5], Text(policy.blame)) << Name(kind);
    if (policy.retry == RetryWhere::kNowhere) continue;
    EXPECT_EQ(cells[3], policy.uses_try ? "yes" : "no") << Name(kind);
    EXPECT_EQ(cells[4], Waits(policy)) << Name(kind);
  }
}

TEST(FailuresPage, HasTheFiguresOfThePolicy) {
  const Policy policy;
  const std::string page = Page();
  for (const std::string& words :
       {"**" + Text(policy.tries) + " failures in a row** (`leadline-",
        "**" + Text(policy.tries_in_total) + " in total** (`--tries-in-total`",
        "**" + Text(policy.free_restarts) + " free restarts**",
        "**" + Text(policy.quarantine_after) +
            " failures in a row** on a node (`--quarantine-after`",
        "After " + Text(policy.first_quarantine.count()) +
            " s one attempt is tried there",
        "within the last " + Text((policy.lease + policy.grace).count()) +
            " s (a lease and its grace)"}) {
    EXPECT_THAT(page, HasSubstr(words));
  }
}

}  // namespace
}  // namespace leadline::control
