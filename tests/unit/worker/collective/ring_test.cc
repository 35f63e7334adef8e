#include "worker/collective/ring/ring.h"

#include <atomic>
#include <cstring>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker/collective/ring_world.h"
#include "worker/collective/ring/ring_plan.h"

namespace leadline::collective {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

template <typename Number>
Ring::Order SumOf(std::vector<Number>& values, int64_t step = 1) {
  return {
      .task = Task::kSum,
      .element = sizeof(Number) == 4 ? Element::kFloat32 : Element::kFloat64,
      .step = step,
      .values = std::as_writable_bytes(std::span(values))};
}

template <typename Number>
void Sum(Ring& ring, std::vector<Number>& values, int64_t step = 1) {
  ring.Wait(ring.Start(SumOf(values, step)));
}

template <typename Number>
std::vector<std::vector<Number>> Random(int64_t size, size_t count) {
  std::mt19937 chance(7);
  std::normal_distribution<Number> normal;
  std::vector<std::vector<Number>> values(static_cast<size_t>(size));
  for (auto& of_rank : values) {
    for (size_t i = 0; i < count; ++i) of_rank.push_back(normal(chance));
  }
  return values;
}

// As the plan says: part p is ((x_p + x_p+1) + ...).
template <typename Number>
std::vector<Number> PlainSum(const std::vector<std::vector<Number>>& values) {
  const auto size = static_cast<int64_t>(values.size());
  std::vector<Number> sums(values[0].size());
  for (int64_t part = 0; part < size; ++part) {
    const Part of = PartOf(sums.size(), size, part);
    for (uint64_t i = of.begin; i < of.begin + of.count; ++i) {
      Number sum = values[part][i];
      for (int64_t k = 1; k < size; ++k) sum += values[(part + k) % size][i];
      sums[i] = sum;
    }
  }
  return sums;
}

template <typename Number>
void ExpectPlainSums(int64_t size, size_t count) {
  RingWorld world(size);
  const auto rings = world.Join();
  ASSERT_THAT(world.errors(), Each(IsEmpty()));
  const auto given = Random<Number>(size, count);
  const std::vector<Number> expected = PlainSum(given);
  const auto errors = OnAllRanks(rings.size(), [&](int64_t rank) {
    std::vector<Number> values = given[rank];
    Sum(*rings[rank], values);
    EXPECT_EQ(
        std::memcmp(values.data(), expected.data(), count * sizeof(Number)), 0)
        << "rank " << rank << " of " << size << ", " << count;
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(RingTest, SumsAreThoseOfAPlainSumBitForBit) {
  for (const int64_t size : {2, 3, 4}) {
    for (const size_t count : {0, 1, 3, 1000}) {
      ExpectPlainSums<float>(size, count);
      ExpectPlainSums<double>(size, count);
    }
  }
  ExpectPlainSums<float>(3, 1'000'003);
}

TEST(RingTest, ManyOperationsMayBeOnTheirWayAtOnce) {
  RingWorld world(3);
  const auto rings = world.Join();
  const auto errors = OnAllRanks(3, [&](int64_t rank) {
    std::vector<std::vector<double>> values;
    for (int i = 0; i < 50; ++i) {
      values.emplace_back(static_cast<size_t>(i * 7 + 1), 1.0 + i + rank);
    }
    std::vector<uint64_t> numbers;
    for (auto& each : values)
      numbers.push_back(rings[rank]->Start(SumOf(each)));
    for (size_t i = 0; i < values.size(); ++i) {
      rings[rank]->Wait(numbers[i]);
      EXPECT_THAT(values[i], Each(3.0 * (1.0 + static_cast<double>(i)) + 3));
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(RingTest, CopiesComeFromTheirRoot) {
  RingWorld world(3);
  const auto rings = world.Join();
  const auto errors = OnAllRanks(3, [&](int64_t rank) {
    for (uint32_t root = 0; root < 3; ++root) {
      std::vector<uint64_t> numbers;
      std::vector<std::vector<double>> values(
          20, std::vector<double>(3000, static_cast<double>(rank)));
      for (auto& each : values) {
        numbers.push_back(rings[rank]->Start(
            {.task = Task::kCopy,
             .element = Element::kFloat64,
             .root = root,
             .values = std::as_writable_bytes(std::span(each))}));
      }
      for (const uint64_t number : numbers) rings[rank]->Wait(number);
      for (const auto& each : values) EXPECT_THAT(each, Each(root));
    }
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

// All ranks but one begin an operation; what each of them is told.
std::vector<std::string> Without(
    int64_t size, int64_t missing,
    const std::function<void(std::vector<std::unique_ptr<Ring>>&)>& act) {
  RingWorld world(size);
  for (int64_t rank = 0; rank < size; ++rank) {
    world.options(rank).operation_limit = milliseconds(400);
  }
  auto rings = world.Join();
  auto errors = OnAllRanks(rings.size(), [&](int64_t rank) {
    std::vector<double> values(1000, 1.0);
    Sum(*rings[rank], values, 6);
    if (rank == missing) return act(rings);
    Sum(*rings[rank], values, 7);
  });
  errors.erase(errors.begin() + missing);
  return errors;
}

TEST(RingTest, ALostRankIsNamedAtOnceByEveryOther) {
  const auto errors = Without(4, 2, [](auto& rings) { rings[2].reset(); });
  EXPECT_THAT(errors,
              Each(AllOf(HasSubstr("operation 1 of step 7, a sum of "
                                   "1000 float64"),
                         AnyOf(HasSubstr("rank 2 takes part in nothing"),
                               HasSubstr("rank 2 is gone")))));
}

TEST(RingTest, ARankThatDoesNotComeIsNamedWhenTheTimeIsOver) {
  const auto errors = Without(4, 2, [](auto&) {});
  EXPECT_THAT(errors, Each(AllOf(HasSubstr("of step 7"),
                                 HasSubstr("did not end within 0.4 s"),
                                 HasSubstr("rank 2 has not come to it"))));
}

TEST(RingTest, ARankThatGivesUpSaysWhy) {
  const auto errors =
      Without(3, 1, [](auto& rings) { rings[1]->Abort("out of memory"); });
  EXPECT_THAT(errors,
              Each(AnyOf(HasSubstr("rank 1 could not go on: out of memory"),
                         HasSubstr("could not go on: out of memory"))));
}

// What ranks 0 and 1 are told when they do different things.
std::vector<std::string> Mismatch(const Ring::Order& of_zero,
                                  const Ring::Order& of_one) {
  RingWorld world(2);
  for (const int64_t rank : {0, 1}) {
    world.options(rank).operation_limit = milliseconds(2000);
  }
  const auto rings = world.Join();
  return OnAllRanks(2, [&](int64_t rank) {
    Ring& ring = *rings[rank];
    ring.Wait(ring.Start(rank == 0 ? of_zero : of_one));
  });
}

TEST(RingTest, OperationsThatDifferAreFoundAndBothNamed) {
  std::vector<double> ten(10), eleven(11);
  std::vector<float> floats(10);
  Ring::Order copy = SumOf(ten);
  copy.task = Task::kCopy;
  for (const auto& [one, words] :
       std::vector<std::pair<Ring::Order, std::string>>{
           {SumOf(eleven), "a sum of 11 float64"},
           {SumOf(floats), "a sum of 10 float32"},
           {SumOf(ten, 2), "of step 2"},
           {{.task = Task::kMeet}, "a barrier"}}) {
    std::vector<double> mine(10);
    const auto errors = Mismatch(SumOf(mine), one);
    EXPECT_THAT(errors, Each(AllOf(HasSubstr("a sum of 10 float64"),
                                   HasSubstr(words))));
  }
}

TEST(RingTest, NothingGoesOnAfterAFailure) {
  RingWorld world(2);
  const auto rings = world.Join();
  rings[1]->Abort("broken");
  std::vector<double> values(10);
  EXPECT_THROW(Sum(*rings[0], values), OperationError);
  EXPECT_THROW(Sum(*rings[0], values), OperationError);
  EXPECT_THROW(Sum(*rings[1], values), OperationError);
}

TEST(RingTest, ARankThatWaitsForSomethingOutsideIsWaitedFor) {
  RingWorld world(3);
  std::atomic<bool> waits = true;
  std::atomic<int> beats = 0;
  for (const int64_t rank : {0, 1, 2}) {
    world.options(rank).operation_limit = milliseconds(100);
  }
  world.options(1).waits = [&] {
    ++beats;
    return waits.load();
  };
  const auto rings = world.Join();
  const auto errors = OnAllRanks(3, [&](int64_t rank) {
    // Ten beats are the limit of all: it waits for five times that.
    while (rank == 1 && beats < 50) std::this_thread::yield();
    if (rank == 1) waits = false;
    rings[rank]->Wait(rings[rank]->Start({.task = Task::kMeet}));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(RingTest, ALongerLimitHoldsForOneOperation) {
  RingWorld world(2);
  for (const int64_t rank : {0, 1}) {
    world.options(rank).operation_limit = milliseconds(50);
  }
  std::atomic<int> beats = 0;
  world.options(1).waits = [&] {
    ++beats;
    return false;
  };
  const auto rings = world.Join();
  const auto errors = OnAllRanks(2, [&](int64_t rank) {
    // Ten beats are the limit of all.
    while (rank == 1 && beats < 40) std::this_thread::yield();
    rings[rank]->Wait(rings[rank]->Start(
        {.task = Task::kMeet, .limit = milliseconds(20'000)}));
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

// Each goes as soon as it is done itself, which is before others are.
TEST(Ring, OneThatIsLostBetweenTwoOperationsIsKnown) {
  RingOfOne world;
  EXPECT_THAT(world.ring().Look().lost, IsEmpty());
  world.LoseTheOther();
  while (world.ring().Look().lost.empty()) std::this_thread::yield();
  EXPECT_THAT(world.ring().Look().lost, HasSubstr("rank 1 is gone: "));
  EXPECT_THAT(world.ring().Look().failure, IsEmpty());
  EXPECT_THROW(world.ring().Wait(world.ring().Start({})), OperationError);
  EXPECT_THAT(world.ring().Look().failure, HasSubstr("rank 1 is gone: "));
}

TEST(Ring, WhoLeavesAfterTheLastOperationIsMissedByNobody) {
  for (int round = 0; round < 50; ++round) {
    RingWorld world(4);
    auto rings = world.Join();
    ASSERT_THAT(world.errors(), Each(IsEmpty()));
    const auto errors = OnAllRanks(rings.size(), [&](int64_t rank) {
      std::vector<float> values(100, 1);
      Sum(*rings[rank], values);
      rings[rank]->Wait(rings[rank]->Start({.task = Task::kMeet, .step = 2}));
      rings[rank].reset();
    });
    ASSERT_THAT(errors, Each(IsEmpty())) << "in round " << round;
  }
}

}  // namespace
}  // namespace leadline::collective
