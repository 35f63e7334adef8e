#include <atomic>
#include <future>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker/collective/nccl_world.h"
#include "worker/collective/nccl/clique.h"

namespace leadline::collective::nccl {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr int64_t kPolls = 60;  // of two ranks: more than a limit of 100 ms

class NcclClique : public testing::Test {
 protected:
  void Join(milliseconds limit = milliseconds(30'000)) {
    world_.SetLimit(limit);
    world_.Join();
    ASSERT_THAT(world_.errors(), Each(IsEmpty()));
  }
  std::vector<std::string> OnAll(
      const std::function<void(int64_t rank)>& act) const {
    return KindsOnAllRanks(2, act);
  }
  static void AwaitPolls() {
    constexpr const char* kQuery = "ncclCommGetAsyncError";
    Fake().AwaitCalls(kQuery, Fake().Calls(kQuery) + kPolls);
  }
  uint64_t StartSum(int64_t rank, std::vector<float>& values,
                    int64_t step = 3) {
    return world_.clique(rank).Start({.task = Task::kSum,
                                      .element = Element::kFloat32,
                                      .step = step,
                                      .values = values.data(),
                                      .count = values.size()});
  }

  NcclWorld world_;
};

template <typename Number>
void ExpectSums(int64_t size, size_t count) {
  NcclWorld world(size);
  world.Join();
  ASSERT_THAT(world.errors(), Each(IsEmpty()));
  const auto errors = KindsOnAllRanks(size, [&](int64_t rank) {
    std::vector<Number> values(count);
    std::iota(values.begin(), values.end(), static_cast<Number>(rank));
    Sum(world.clique(rank), values);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(values[i],
                static_cast<Number>(size * i + size * (size - 1) / 2));
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(NcclSums, AreRightForEachTypeAndSize) {
  for (const size_t count : {0, 1, 1000}) {
    ExpectSums<float>(2, count);
    ExpectSums<double>(3, count);
    ExpectSums<int64_t>(4, count);
  }
}

TEST_F(NcclClique, CopiesComeFromTheirRoot) {
  Join();
  const auto errors = OnAll([&](int64_t rank) {
    Clique& clique = world_.clique(rank);
    for (uint32_t root = 0; root < 2; ++root) {
      std::vector<double> values(7, static_cast<double>(rank));
      std::string bytes(3, static_cast<char>('a' + rank));
      clique.Wait(clique.Start({.task = Task::kCopy,
                                .element = Element::kFloat64,
                                .root = root,
                                .values = values.data(),
                                .count = values.size()}));
      clique.Wait(clique.Start({.task = Task::kCopy,
                                .element = Element::kByte,
                                .root = root,
                                .values = bytes.data(),
                                .count = bytes.size()}));
      EXPECT_THAT(values, Each(static_cast<double>(root)));
      EXPECT_THAT(bytes, Each(static_cast<char>('a' + root)));
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_F(NcclClique, ManyOperationsMayBeOnTheirWayAndWaitedForInAnyOrder) {
  Join();
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<std::vector<float>> values(40, std::vector<float>(9, 1));
    std::vector<uint64_t> numbers;
    for (auto& each : values) numbers.push_back(StartSum(rank, each));
    world_.clique(rank).Wait(numbers.back());
    EXPECT_THAT(values, Each(Each(2.0F)));
    for (const uint64_t number : numbers) world_.clique(rank).Wait(number);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_F(NcclClique, OneThatBeginsLateIsWaitedFor) {
  Join();
  Fake().Delay("ncclAllReduce", -1, 5);
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<float> values(3, 1);
    Sum(world_.clique(rank), values);
    EXPECT_THAT(values, Each(2.0F));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_F(NcclClique, OneThatNeverBeginsEndsWithinItsLimit) {
  Join(milliseconds(100));
  Fake().Delay("ncclAllReduce", 0, -1);
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<float> values(3, 1);
    Sum(world_.clique(rank), values);
  });
  EXPECT_THAT(errors,
              Each(StartsWith("OperationError: operation 0 of step 1")));
}

TEST_F(NcclClique, ExchangeFollowsWhatWasComputedBefore) {
  Join();
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<float> values(3);
    std::promise<void> begins;
    world_.queue(rank).compute().Enqueue([&] {
      begins.get_future().wait();
      values.assign(3, 5);
    });
    const uint64_t number = StartSum(rank, values);
    begins.set_value();
    world_.clique(rank).Wait(number);
    EXPECT_THAT(values, Each(10.0F));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_F(NcclClique, TimeCountsFromWhenTheDeviceComesToAnOperation) {
  Join(milliseconds(100));
  std::promise<void> begins;
  const auto begun = begins.get_future().share();
  std::vector<std::vector<float>> values(2, std::vector<float>(3, 1));
  std::vector<uint64_t> numbers(2);
  for (int64_t rank = 0; rank < 2; ++rank) {
    world_.queue(rank).compute().Enqueue([begun] { begun.wait(); });
    numbers[rank] = StartSum(rank, values[rank]);
  }
  AwaitPolls();
  begins.set_value();
  const auto errors =
      OnAll([&](int64_t rank) { world_.clique(rank).Wait(numbers[rank]); });
  EXPECT_THAT(errors, Each(IsEmpty()));
  EXPECT_THAT(values, Each(Each(2.0F)));
}

TEST_F(NcclClique, NoTimeCountsWhileThisRankWaitsForSomethingOutside) {
  std::atomic<bool> waits = true;
  for (int64_t rank = 0; rank < 2; ++rank) {
    world_.options(rank).waits = [&] { return waits.load(); };
  }
  Join(milliseconds(100));
  Fake().HangOperation(-1, 0);
  std::vector<std::vector<float>> values(2, std::vector<float>(3, 1));
  std::vector<uint64_t> numbers(2);
  for (int64_t rank = 0; rank < 2; ++rank) {
    numbers[rank] = StartSum(rank, values[rank]);
  }
  AwaitPolls();
  // Had one failed, this would throw.
  std::vector<float> more(3);
  StartSum(0, more);
  waits = false;
  const auto errors =
      OnAll([&](int64_t rank) { world_.clique(rank).Wait(numbers[rank]); });
  EXPECT_THAT(errors, Each(HasSubstr("did not end within 0.1 s")));
  world_.DropAll();
}

TEST_F(NcclClique, HungOperationEndsWithinItsLimitAndIsNamed) {
  Join(milliseconds(200));
  Fake().HangOperation(0, 1);
  const auto begin = std::chrono::steady_clock::now();
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<float> values(4, 1);
    Sum(world_.clique(rank), values, 2);
    Sum(world_.clique(rank), values, 3);
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_THAT(
      errors,
      Each(AllOf(StartsWith("OperationError: operation 1 of step 3, a sum of 4 "
                            "float32, on the device of rank "),
                 HasSubstr("did not end within 0.2 s"))));
  world_.DropAll();
  EXPECT_EQ(Fake().Living(), 0);
}

TEST_F(NcclClique, OperationsThatDifferEndWithinTheirLimit) {
  Join(milliseconds(100));
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<float> values(static_cast<size_t>(4 + rank), 1);
    Sum(world_.clique(rank), values);
  });
  EXPECT_THAT(errors,
              Each(StartsWith("OperationError: operation 0 of step 1")));
}

TEST_F(NcclClique, HostThatWaitsForTheDeviceIsFreedAndHearsOfItNext) {
  Join(milliseconds(100));
  Fake().HangOperation(-1, 0);
  std::vector<std::vector<float>> values(2, std::vector<float>(3, 1));
  const auto errors = OnAll([&](int64_t rank) {
    StartSum(rank, values[rank]);
    // As a copy from the device does.
    std::promise<void> done;
    static_cast<test::HostStream*>(world_.queue(rank).stream())->Enqueue([&] {
      done.set_value();
    });
    done.get_future().wait();
    std::vector<float> more(3);
    StartSum(rank, more);
  });
  EXPECT_THAT(errors, Each(HasSubstr("did not end within 0.1 s")));
}

TEST_F(NcclClique, AbortOfOneRankEndsTheOthers) {
  Join();
  const auto errors = OnAll([&](int64_t rank) {
    if (rank == 1) {
      world_.ring(1).Abort("the disk died");
      world_.clique(1).Abort("the disk died");
    }
    std::vector<float> values(3, 1);
    Sum(world_.clique(rank), values);
  });
  EXPECT_THAT(errors, Each(AllOf(StartsWith("OperationError: "),
                                 HasSubstr("the disk died"))));
}

TEST_F(NcclClique, AbortMayBeCalledTwiceAndNothingIsDoneAfterIt) {
  Join();
  world_.clique(0).Abort("the first reason");
  world_.clique(0).Abort("the second reason");
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<float> values(3, 1);
    Sum(world_.clique(rank), values);
  });
  EXPECT_THAT(errors, Each(HasSubstr("the first reason")));
  world_.DropAll();
  EXPECT_EQ(Fake().Calls("ncclCommAbort"), 2);
  EXPECT_EQ(Fake().Living(), 0);
}

TEST_F(NcclClique, FailureOfTheDeviceKeepsItsKind) {
  Join();
  Fake().HangOperation(0, 0);
  std::vector<float> values(3, 1);
  StartSum(0, values);
  world_.queue(0).Break("CUDA error: an illegal memory access");
  // Also where the watchdog was the first to see it.
  const auto errors = OnAll([&](int64_t rank) {
    if (rank == 0) world_.clique(0).Wait(0);
  });
  EXPECT_EQ(errors[0], "CUDA error: an illegal memory access");
  const auto later = OnAll([&](int64_t rank) {
    if (rank == 0) StartSum(0, values);
  });
  EXPECT_THAT(later[0], HasSubstr("CUDA error: an illegal memory access"));
}

TEST_F(NcclClique, CallThatNeverReturnsEndsWithTheLastResort) {
  std::string told;
  world_.options(0).patience = milliseconds(20);
  world_.options(0).last_resort = [&](const std::string& why) {
    told = why;
    Fake().Reset();  // in place of the end of the process
  };
  world_.options(0).farewell_limit = milliseconds(50);
  Join(milliseconds(100));
  Fake().HangCalls("ncclAllReduce", 0);
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<float> values(3, 1);
    Sum(world_.clique(rank), values);
  });
  EXPECT_THAT(errors, Each(StartsWith("OperationError: ")));
  EXPECT_THAT(told, testing::StartsWith("NCCL: "));
}

TEST_F(NcclClique, RanksPartInPeace) {
  Join();
  const auto errors = OnAll([&](int64_t rank) {
    std::vector<float> values(3, 1);
    Sum(world_.clique(rank), values);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
  world_.DropAll();
  EXPECT_EQ(Fake().Calls("ncclCommDestroy"), 2);
  EXPECT_EQ(Fake().Calls("ncclCommAbort"), 0);
}

TEST_F(NcclClique, WhoPartsAloneDoesNotWaitForEver) {
  world_.options(0).farewell_limit = milliseconds(50);
  Join();
  world_.Drop(0);
  EXPECT_EQ(Fake().Calls("ncclCommAbort"), 1);
  world_.options(1).farewell_limit = milliseconds(50);
}

TEST(NcclCliques, OneWhosePeerIsLostEndsAtOnce) {
  Fake().Reset();
  RingOfOne rings[2];
  const auto library = std::make_shared<const Library>(FakeLibrary());
  UniqueId id;
  library->functions().get_unique_id(&id);
  std::vector<std::unique_ptr<Clique>> cliques(2);
  const auto errors = KindsOnAllRanks(2, [&](int64_t rank) {
    CliqueOptions options;
    options.rank = rank;
    options.size = 2;
    options.look_period = milliseconds(5);
    options.farewell_limit = milliseconds(50);
    cliques[rank] =
        std::make_unique<Clique>(rings[rank].ring(), library,
                                 std::make_shared<test::HostQueue>(), options);
    cliques[rank]->Join(id);
    if (rank == 1) return;
    float value = 1;
    const uint64_t number = cliques[0]->Start({.element = Element::kFloat32,
                                               .step = 5,
                                               .values = &value,
                                               .count = 1});
    rings[0].LoseTheOther();
    cliques[0]->Wait(number);
  });
  EXPECT_THAT(errors[0], AllOf(StartsWith("OperationError: operation 0 of step "
                                          "5, a sum of 1 float32"),
                               HasSubstr("rank 1 is gone: ")));
  EXPECT_THAT(errors[1], IsEmpty());
}

class NcclLastCalls : public testing::TestWithParam<const char*> {};

TEST_P(NcclLastCalls, ThatNeverReturnAreLeftToThemselves) {
  NcclWorld world;
  for (int64_t rank = 0; rank < 2; ++rank) {
    world.options(rank).farewell_limit = milliseconds(30);
  }
  world.Join();
  ASSERT_THAT(world.errors(), Each(IsEmpty()));
  Fake().HangCalls(GetParam(), -1);
  if (std::string(GetParam()) == "ncclCommAbort") {
    world.clique(0).Abort("as it is told");
  }
  world.DropAll();  // returns
  EXPECT_GE(Fake().Calls(GetParam()), 1);
}

INSTANTIATE_TEST_SUITE_P(All, NcclLastCalls,
                         testing::Values("ncclCommAbort", "ncclCommFinalize",
                                         "ncclCommDestroy"));

}  // namespace
}  // namespace leadline::collective::nccl
