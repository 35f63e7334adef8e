#include "worker/collective/ring/ring_plan.h"

#include <vector>

#include <gtest/gtest.h>

namespace leadline::collective {
namespace {

// Values of every rank, moved by the plan alone.
struct Paper {
  std::vector<std::vector<double>> values;

  void Run(const Operation& operation) {
    const auto size = static_cast<int64_t>(values.size());
    std::vector<int64_t> turns(values.size(), 0);
    // A copy reaches a rank when the one before it has it.
    for (int64_t round = 0; round < 2 * size; ++round) {
      const auto before = values;
      for (int64_t rank = 0; rank < size; ++rank) {
        const auto turn = TurnOf(operation, rank, size, turns[rank]);
        if (!turn) continue;
        const bool waits = operation.task == Task::kCopy &&
                           round < (rank - operation.root + size) % size - 1;
        if (waits) continue;
        ++turns[rank];
        if (!turn->in) continue;
        const auto& from = before[(rank + size - 1) % size];
        for (uint64_t i = turn->in->begin;
             i < turn->in->begin + turn->in->count; ++i) {
          values[rank][i] = turn->adds ? from[i] + values[rank][i] : from[i];
        }
      }
    }
  }
};

TEST(RingPlan, PartsCoverAllOnce) {
  for (const uint64_t count : {0, 1, 2, 3, 7, 100}) {
    for (const int64_t size : {1, 2, 3, 4, 7}) {
      uint64_t next = 0;
      for (int64_t index = 0; index < size; ++index) {
        const Part part = PartOf(count, size, index);
        EXPECT_EQ(part.begin, next);
        next += part.count;
      }
      EXPECT_EQ(next, count);
    }
  }
}

TEST(RingPlan, EveryRankGetsTheSameSumInTheSameOrder) {
  for (const int64_t size : {2, 3, 4, 5}) {
    Paper paper;
    const uint64_t count = 11;
    for (int64_t rank = 0; rank < size; ++rank) {
      paper.values.emplace_back();
      for (uint64_t i = 0; i < count; ++i) {
        paper.values.back().push_back(1.0 /
                                      static_cast<double>(3 + rank * 17 + i));
      }
    }
    const auto before = paper.values;
    paper.Run(
        {.task = Task::kSum, .element = Element::kFloat64, .count = count});
    for (int64_t part = 0; part < size; ++part) {
      const Part of = PartOf(count, size, part);
      for (uint64_t i = of.begin; i < of.begin + of.count; ++i) {
        double sum = before[part][i];
        for (int64_t k = 1; k < size; ++k) sum += before[(part + k) % size][i];
        for (int64_t rank = 0; rank < size; ++rank) {
          EXPECT_EQ(paper.values[rank][i], sum) << size << ' ' << rank;
        }
      }
    }
  }
}

TEST(RingPlan, CopiesReachEveryRank) {
  for (const int64_t size : {2, 3, 5}) {
    for (uint32_t root = 0; root < size; ++root) {
      Paper paper;
      for (int64_t rank = 0; rank < size; ++rank) {
        paper.values.push_back({static_cast<double>(rank), -1.0 * rank});
      }
      const auto expected = paper.values[root];
      paper.Run({.task = Task::kCopy, .root = root, .count = 2});
      for (const auto& values : paper.values) EXPECT_EQ(values, expected);
    }
  }
}

}  // namespace
}  // namespace leadline::collective
