// The table of moves in docs/architecture.md is that of the code.

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/experiment.h"
#include "tests/support/paths.h"

namespace leadline {
namespace {

using Move = std::pair<TrialState, TrialState>;

std::vector<std::string> Split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) {
    const size_t first = part.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    parts.push_back(part.substr(first, part.find_last_not_of(' ') - first + 1));
  }
  return parts;
}

std::vector<TrialState> States(const std::string& cell) {
  std::vector<TrialState> states;
  if (cell == "any that has not ended") {
    for (const TrialState state : kTrialStates) {
      if (!IsEnded(state)) states.push_back(state);
    }
    return states;
  }
  for (const std::string& word : Split(cell, ',')) {
    const auto state = ParseTrialState(word);
    EXPECT_TRUE(state) << word;
    if (state) states.push_back(*state);
  }
  return states;
}

void AddMovesOf(const std::string& row, std::set<Move>& moves) {
  const auto cells = Split(row, '|');
  ASSERT_EQ(cells.size(), 3U) << row;
  for (const TrialState from : States(cells[0])) {
    for (const TrialState to : States(cells[1])) moves.insert({from, to});
  }
}

std::set<Move> MovesOfThePage() {
  std::ifstream page(test::SourceDir() / "docs/architecture.md");
  std::set<Move> moves;
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (in_table && line.starts_with("| ") && !line.starts_with("| ---")) {
      AddMovesOf(line, moves);
    }
    in_table =
        line == "| from | to | when |" || (in_table && line.starts_with("|"));
  }
  return moves;
}

TEST(StatesPage, ListsAllLegalMovesAndNoOther) {
  std::set<Move> moves;
  for (const TrialState from : kTrialStates) {
    for (const TrialState to : kTrialStates) {
      if (IsLegalMove(from, to)) moves.insert({from, to});
    }
  }
  EXPECT_EQ(MovesOfThePage(), moves);
}

}  // namespace
}  // namespace leadline
