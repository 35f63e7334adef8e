#include "coordinator/rpc/resolve.h"

#include <variant>

#include <gtest/gtest.h>

#include "storage/open.h"
#include "tests/support/store_world.h"

namespace leadline::rpc {
namespace {

class ResolveTest : public testing::Test {
 protected:
  ResolveTest() {
    EXPECT_TRUE(test::CommitOne(*stores_.store, test::MakeSweep(1, 2, 3)).ok());
  }

  absl::StatusOr<control::Target> Resolve(const std::string& text) {
    return ResolveTarget(*stores_.reader, text);
  }

  storage::StorePair stores_ = storage::MakeMemoryStore();
};

TEST_F(ResolveTest, SweepCellAndTrialThatExistAreFound) {
  EXPECT_EQ(std::get<SweepId>(*Resolve("s1")), SweepId{1});
  EXPECT_EQ(std::get<CellId>(*Resolve("s1.2")), (CellId{{1}, 2}));
  EXPECT_EQ(std::get<TrialId>(*Resolve("s1.2.2")), (TrialId{{{1}, 2}, 2}));
}

TEST_F(ResolveTest, WhatDoesNotExistIsNotFound) {
  for (const char* text : {"s2", "s1.3", "s2.1", "s1.1.3", "s1.3.0", "other"}) {
    EXPECT_TRUE(absl::IsNotFound(Resolve(text).status())) << text;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(Resolve("").status()));
}

}  // namespace
}  // namespace leadline::rpc
