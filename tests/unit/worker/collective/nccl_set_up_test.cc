#include <chrono>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker/collective/nccl_world.h"

namespace leadline::collective::nccl {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(NcclSetUp, OneThatTakesItsTimeIsWaitedFor) {
  NcclWorld world(3);
  Fake().Delay("ncclCommInitRankConfig", 1, 20);
  world.Join();
  EXPECT_THAT(world.errors(), Each(IsEmpty()));
  EXPECT_EQ(Fake().Living(), 3);
}

TEST(NcclSetUp, OneThatNeverEndsHasADeadlineOnEveryRank) {
  NcclWorld world;
  world.SetSetUpLimit(milliseconds(200));
  Fake().Delay("ncclCommInitRankConfig", 1, -1);
  world.Join();
  EXPECT_THAT(world.errors(), Each(StartsWith("SetUpError: NCCL was not set")));
  EXPECT_THAT(world.errors()[1],
              HasSubstr("within 0.2 s: it still waits for another rank"));
  world.DropAll();
  EXPECT_EQ(Fake().Living(), 0);
}

TEST(NcclSetUp, RankThatNeverComesIsWaitedForUntilTheDeadline) {
  NcclWorld world(3);
  world.SetSetUpLimit(milliseconds(200));
  world.Join({2});
  EXPECT_THAT(world.errors()[0], StartsWith("SetUpError: "));
  EXPECT_THAT(world.errors()[1], StartsWith("SetUpError: "));
  EXPECT_EQ(Fake().Living(), 0);
}

TEST(NcclSetUp, RankThatCannotTellsTheOthersWhy) {
  NcclWorld world(3);
  Fake().Return("ncclCommInitRankConfig", 2, 2);
  world.Join();
  EXPECT_THAT(world.errors(), Each(AllOf(StartsWith("SetUpError: "),
                                         HasSubstr("ncclSystemError"))));
  EXPECT_THAT(world.errors()[0], HasSubstr("rank 2 could not go on: "));
}

TEST(NcclSetUp, CallThatNeverReturnsEndsWithTheLastResort) {
  NcclWorld world;
  world.SetSetUpLimit(milliseconds(100));
  for (int64_t rank = 0; rank < 2; ++rank) {
    world.options(rank).limit = milliseconds(100);
    world.options(rank).patience = milliseconds(20);
  }
  std::string told;
  world.options(0).last_resort = [&](const std::string& why) {
    told = why;
    Fake().Reset();  // in place of the end of the process
  };
  Fake().HangCalls("ncclCommInitRankConfig", 0);
  world.Join();
  EXPECT_THAT(world.errors(), Each(StartsWith("SetUpError: ")));
  EXPECT_THAT(told, StartsWith("NCCL init: "));
  EXPECT_THAT(told, AnyOf(HasSubstr("a call of NCCL has not returned"),
                          HasSubstr("rank 1 could not go on")));
}

TEST(NcclSetUp, WhoStopsMeanwhileLeavesNothingBehind) {
  NcclWorld world;
  Fake().Delay("ncclCommInitRankConfig", 0, -1);
  world.options(0).breathe = [] { throw std::logic_error("asked to stop"); };
  world.SetSetUpLimit(milliseconds(100));
  world.Join();
  EXPECT_EQ(world.errors()[0], "asked to stop");
  EXPECT_THAT(world.errors()[1], StartsWith("SetUpError: "));
  EXPECT_EQ(Fake().Living(), 0);
}

TEST(NcclSetUp, WhoStopsMeanwhileTellsTheOthersAtOnce) {
  NcclWorld world;
  Fake().Delay("ncclCommInitRankConfig", 0, -1);
  world.options(0).breathe = [] { throw std::logic_error("asked to stop"); };
  const auto begin = std::chrono::steady_clock::now();
  world.Join();
  EXPECT_EQ(world.errors()[0], "asked to stop");
  EXPECT_THAT(world.errors()[1],
              AllOf(StartsWith("SetUpError: "),
                    HasSubstr("rank 0 could not go on: asked to stop")));
  EXPECT_LT(std::chrono::steady_clock::now() - begin,
            world.options(1).set_up_limit / 2);
}

// As the trainer's own word for it is none.
TEST(NcclSetUp, StopThatIsNoStandardExceptionIsToldToo) {
  struct Stop {};
  Fake().Reset();
  auto ring = LinkedRings(2);
  Fake().Delay("ncclCommInitRankConfig", 0, -1);
  const auto errors = KindsOnAllRanks(2, [&](int64_t rank) {
    CliqueOptions options;
    options.rank = rank;
    options.size = 2;
    if (rank == 0) options.breathe = [] { throw Stop(); };
    try {
      JoinClique(*ring[rank], FakeLibrary(),
                 std::make_shared<test::HostQueue>(), options);
    } catch (const Stop&) {
      throw std::runtime_error("stopped");
    }
  });
  EXPECT_EQ(errors[0], "stopped");
  EXPECT_THAT(errors[1], AllOf(StartsWith("SetUpError: "),
                               HasSubstr("rank 0 could not go on: it was told "
                                         "to stop")));
}

TEST(NcclSetUp, RanksOfDifferentVersionsNameBoth) {
  Fake().Reset();
  auto ring = LinkedRings(2);
  const auto errors = KindsOnAllRanks(2, [&](int64_t rank) {
    if (rank == 1) {
      // Rank 0 has looked at its version by then.
      Fake().AwaitCalls("ncclGetUniqueId", 1);
      Fake().SetVersion(22703);
    }
    CliqueOptions options;
    options.rank = rank;
    options.size = 2;
    options.farewell_limit = milliseconds(50);
    JoinClique(*ring[rank], FakeLibrary(), std::make_shared<test::HostQueue>(),
               options);
  });
  EXPECT_THAT(errors, Each(HasSubstr("rank 0 has NCCL 2.28.9, rank 1 has "
                                     "2.27.3")));
  EXPECT_THAT(errors, Each(StartsWith("SetUpError: ")));
}

TEST(NcclSetUp, MissingLibraryOfOneRankEndsAll) {
  Fake().Reset();
  auto ring = LinkedRings(2);
  const auto errors = KindsOnAllRanks(2, [&](int64_t rank) {
    CliqueOptions options;
    options.rank = rank;
    options.size = 2;
    JoinClique(*ring[rank], rank == 0 ? "libno_nccl.so" : FakeLibrary(),
               std::make_shared<test::HostQueue>(), options);
  });
  EXPECT_THAT(errors, Each(AllOf(StartsWith("SetUpError: "),
                                 HasSubstr("libno_nccl.so"))));
}

}  // namespace
}  // namespace leadline::collective::nccl
