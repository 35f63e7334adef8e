// A command whose first answer is lost asks again under the same request id.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "commands_fixture.h"

namespace leadline::cli_test {
namespace {

using grpc::Status;
using Ids = std::vector<std::string>;

/// Does what is asked and loses its answer the first time.
auto LoseFirst(Ids& ids) {
  return [&ids](const auto& request, auto*) {
    ids.push_back(request.request_id());
    return ids.size() == 1 ? Status(grpc::StatusCode::UNAVAILABLE, "lost")
                           : Status::OK;
  };
}

TEST_F(Commands, LostAnswersOfChangingCallsAreAskedForUnderTheSameId) {
  Ids ids;
  answers_.submit = LoseFirst(ids);
  answers_.cancel = LoseFirst(ids);
  answers_.retry = LoseFirst(ids);
  answers_.pause = LoseFirst(ids);
  answers_.resume = LoseFirst(ids);
  answers_.clear_node = LoseFirst(ids);
  const std::vector<std::vector<std::string>> commands = {
      {"submit", sweep_file_}, {"cancel", "s1"}, {"retry", "s1"},
      {"pause", "s1"},         {"resume", "s1"}, {"nodes", "clear", "n"}};
  Ids seen;
  for (const auto& words : commands) {
    ids.clear();
    EXPECT_EQ(Run(words).exit_code, 0) << words[0];
    ASSERT_EQ(ids.size(), 2U) << words[0];
    EXPECT_FALSE(ids[0].empty());
    EXPECT_EQ(ids[0], ids[1]) << words[0];
    for (const std::string& other : seen) EXPECT_NE(other, ids[0]);
    seen.push_back(ids[0]);
  }
}

}  // namespace
}  // namespace leadline::cli_test
