#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker/collective/ring_world.h"
#include "worker/collective/nccl/ledger.h"

namespace leadline::collective::nccl {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

Operation SumOf(uint64_t count) {
  return {.task = Task::kSum, .element = Element::kFloat32, .count = count};
}

TEST(NcclLedger, RanksThatAskedTheSameGoOn) {
  const auto rings = LinkedRings(3);
  EXPECT_THAT(OnAllRanks(3,
                         [&](int64_t rank) {
                           Ledger ledger(*rings[rank], rank, 3);
                           for (int64_t step = 1; step < 5; ++step) {
                             ledger.Note(SumOf(40));
                             ledger.Exchange(step);
                           }
                           ledger.Compare();
                           ledger.Compare();
                         }),
              Each(IsEmpty()));
}

TEST(NcclLedger, OneThatAskedForSomethingElseIsNamedOnEveryRank) {
  const auto rings = LinkedRings(3);
  EXPECT_THAT(
      OnAllRanks(3,
                 [&](int64_t rank) {
                   Ledger ledger(*rings[rank], rank, 3);
                   ledger.Note(SumOf(rank == 2 ? 41 : 40));
                   ledger.Exchange(7);
                   ledger.Compare();
                 }),
      Each(HasSubstr("before step 7 rank 2 asked its device for other")));
}

TEST(NcclLedger, OneThatLeftOutAnOperationIsFoundAtTheNextStep) {
  const auto rings = LinkedRings(2);
  EXPECT_THAT(OnAllRanks(2,
                         [&](int64_t rank) {
                           Ledger ledger(*rings[rank], rank, 2);
                           ledger.Note(SumOf(40));
                           if (rank == 0) ledger.Note(SumOf(40));
                           ledger.Exchange(7);
                           ledger.Exchange(8);
                         }),
              Each(HasSubstr("before step 7 rank 1")));
}

}  // namespace
}  // namespace leadline::collective::nccl
