// Every code that NCCL returns, from every function: the right kind of failure,
// with its text, and nothing left behind.

#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker/collective/nccl_world.h"

namespace leadline::collective::nccl {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// The last is none that NCCL has today.
constexpr int kCodes[] = {1, 2, 3, 4, 5, 6, 42};

using FunctionAndCode = std::tuple<const char*, int>;

class NcclErrors : public testing::TestWithParam<FunctionAndCode> {
 protected:
  std::string function() const { return std::get<0>(GetParam()); }
  int code() const { return std::get<1>(GetParam()); }
  std::string Name() const { return NameOf(static_cast<Result>(code())); }
};

std::string NameOfTest(const testing::TestParamInfo<FunctionAndCode>& info) {
  return std::string(std::get<0>(info.param)) + "Returns" +
         std::to_string(std::get<1>(info.param));
}

void SumOfOnes(NcclWorld& world, int64_t rank) {
  std::vector<float> values(5, 1);
  Sum(world.clique(rank), values, 7);
}

class NcclSetUpErrors : public NcclErrors {};

TEST_P(NcclSetUpErrors, AreFailuresToSetUp) {
  NcclWorld world;
  Fake().Return(function(), -1, code());
  world.Join();
  EXPECT_THAT(world.errors()[0],
              AllOf(StartsWith("SetUpError: "), HasSubstr(Name())));
  EXPECT_THAT(world.errors()[1], StartsWith("SetUpError: "));
  world.DropAll();
  EXPECT_EQ(Fake().Living(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, NcclSetUpErrors,
    testing::Combine(testing::Values("ncclGetVersion", "ncclGetUniqueId",
                                     "ncclCommInitRankConfig",
                                     "ncclCommGetAsyncError"),
                     testing::ValuesIn(kCodes)),
    NameOfTest);

class NcclOperationErrors : public NcclErrors {};

TEST_P(NcclOperationErrors, AreFailuresOfThatOperation) {
  NcclWorld world;
  world.Join();
  ASSERT_THAT(world.errors(), Each(IsEmpty()));
  Fake().Return(function(), 0, code());
  const auto errors = KindsOnAllRanks(2, [&](int64_t rank) {
    if (function() != "ncclBroadcast") return SumOfOnes(world, rank);
    double value = 0;
    Clique& clique = world.clique(rank);
    clique.Wait(clique.Start({.task = Task::kCopy,
                              .element = Element::kFloat64,
                              .step = 7,
                              .values = &value,
                              .count = 1}));
  });
  EXPECT_THAT(errors[0], AllOf(StartsWith("OperationError: "),
                               HasSubstr(Name()), HasSubstr("the fake")));
  // Where the watchdog asks between two operations it knows of none.
  if (function() != "ncclCommGetAsyncError") {
    EXPECT_THAT(errors[0],
                AllOf(HasSubstr("operation 0 of step 7"),
                      HasSubstr("on the device of rank 0: "),
                      HasSubstr(function() == "ncclBroadcast" ? "1 float64"
                                                              : "5 float32")));
  }
  // The other hears of it over the ring, and does not wait for its limit.
  EXPECT_THAT(errors[1],
              AnyOf(AllOf(StartsWith("OperationError: "), HasSubstr(Name())),
                    IsEmpty()));
  world.DropAll();
  EXPECT_EQ(Fake().Living(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, NcclOperationErrors,
    testing::Combine(testing::Values("ncclAllReduce", "ncclBroadcast",
                                     "ncclCommGetAsyncError"),
                     testing::ValuesIn(kCodes)),
    NameOfTest);

class NcclLaterErrors : public testing::TestWithParam<int> {};

TEST_P(NcclLaterErrors, EndTheOperationThatIsOnItsWay) {
  NcclWorld world;
  world.Join();
  world.SetLimit(std::chrono::seconds(30));
  Fake().HangOperation(0, 2);
  Fake().FailLater(0, GetParam(), 3);
  const auto errors = KindsOnAllRanks(2, [&](int64_t rank) {
    for (int i = 0; i < 3; ++i) SumOfOnes(world, rank);
  });
  EXPECT_THAT(errors[0],
              AllOf(StartsWith("OperationError: operation 2 of step 7"),
                    HasSubstr(NameOf(static_cast<Result>(GetParam())))));
  EXPECT_THAT(errors[1], StartsWith("OperationError: operation 2 of step 7"));
}

INSTANTIATE_TEST_SUITE_P(All, NcclLaterErrors, testing::ValuesIn(kCodes));

class NcclLastErrors : public NcclErrors {};

TEST_P(NcclLastErrors, AreNoReasonToStay) {
  NcclWorld world;
  world.Join();
  EXPECT_THAT(KindsOnAllRanks(2, [&](int64_t rank) { SumOfOnes(world, rank); }),
              Each(IsEmpty()));
  Fake().Return(function(), -1, code());
  if (function() == "ncclCommAbort") world.clique(0).Abort("as it is told");
  world.DropAll();
  EXPECT_EQ(Fake().Living(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, NcclLastErrors,
                         testing::Combine(testing::Values("ncclCommAbort",
                                                          "ncclCommFinalize",
                                                          "ncclCommDestroy"),
                                          testing::ValuesIn(kCodes)),
                         NameOfTest);

}  // namespace
}  // namespace leadline::collective::nccl
