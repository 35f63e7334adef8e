#include "worker/agent/state_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace leadline::agent {
namespace {

TEST(StateLock, TheSecondIsToldWhoHoldsIt) {
  const ScratchFolder folder;
  const auto state = folder.path() / "new" / "state";
  {
    const auto first = StateLock::Take(state);
    ASSERT_TRUE(first.ok()) << first.status();
    const auto second = StateLock::Take(state);
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(second.status().message()),
                ::testing::HasSubstr(std::to_string(getpid())));
  }
  EXPECT_TRUE(StateLock::Take(state).ok());
}

TEST(StateLock, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_FALSE(StateLock::Take("/proc/nowhere/state").ok());
}

}  // namespace
}  // namespace leadline::agent
