#include "worker/collective/nccl_communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/worker/collective/nccl_world.h"

namespace leadline::collective {
namespace {

using nccl::Fake;
using nccl::KindsOnAllRanks;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using torch::Tensor;

// What stands for a device here lies in the process's memory: floats do.
bool IsFloat(const Tensor& tensor) { return tensor.is_floating_point(); }

/// Makes a communicator of two ranks and lets each act with its own.
std::vector<std::string> OnRanks(
    const std::function<void(Communicator&)>& act,
    const std::function<void(nccl::CliqueOptions&)>& change = [](auto&) {}) {
  Fake().Reset();
  auto rings = LinkedRings(2);
  return KindsOnAllRanks(2, [&](int64_t rank) {
    nccl::CliqueOptions options;
    options.rank = rank;
    options.size = 2;
    options.look_period = std::chrono::milliseconds(5);
    options.farewell_limit = std::chrono::milliseconds(200);
    change(options);
    const auto communicator = MakeNcclCommunicator(
        std::move(rings[rank]), std::make_shared<test::HostQueue>(), options,
        nccl::FakeLibrary(), IsFloat);
    act(*communicator);
  });
}

TEST(NcclCommunicator, NamesItselfAndItsVersion) {
  EXPECT_THAT(OnRanks([](Communicator& ranks) {
                EXPECT_EQ(ranks.size(), 2);
                EXPECT_EQ(ranks.Transport(), "nccl 2.28.9");
              }),
              Each(IsEmpty()));
}

TEST(NcclCommunicator, TensorsOnDevicesGoByNcclAndOthersOverTheRing) {
  const auto errors = OnRanks([](Communicator& ranks) {
    ranks.SetStep(1);
    const Tensor on_device = torch::full({5}, 1.0 + ranks.rank());
    const Tensor on_cpu = torch::full({5}, 1 + ranks.rank(), torch::kInt64);
    const auto first = ranks.StartAllReduce(on_cpu);
    const auto second = ranks.StartAllReduce(on_device);
    const auto third = ranks.StartAllReduce(on_cpu.clone());
    ranks.Wait(second);
    ranks.Wait(first);
    ranks.Wait(third);
    EXPECT_TRUE(on_device.eq(3).all().item<bool>());
    EXPECT_TRUE(on_cpu.eq(3).all().item<bool>());
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
  EXPECT_EQ(Fake().Calls("ncclAllReduce"), 2);
}

TEST(NcclCommunicator, TensorsOfAnyLayoutAreSummedAndCopied) {
  const auto errors = OnRanks([](Communicator& ranks) {
    Tensor turned = torch::arange(6, torch::kFloat64).view({2, 3}).t();
    const Tensor expected = turned * 2;
    ranks.AllReduce(turned);
    EXPECT_TRUE(turned.equal(expected));
    Tensor copied = torch::full({3, 2}, ranks.rank(), torch::kFloat32).t();
    ranks.Broadcast(copied, 1);
    EXPECT_TRUE(copied.eq(1).all().item<bool>());
    Tensor bytes = torch::full({3}, ranks.rank(), torch::kUInt8);
    ranks.Broadcast(bytes, 1);
    EXPECT_TRUE(bytes.eq(1).all().item<bool>());
    Tensor one = torch::full({}, 1.5, torch::kFloat64);
    ranks.AllReduce(one);
    EXPECT_EQ(one.item<double>(), 3);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(NcclCommunicator, ValuesLiveUntilTheyAreWaitedFor) {
  const auto errors = OnRanks([](Communicator& ranks) {
    std::vector<uint64_t> operations;
    for (int i = 0; i < 20; ++i) {
      operations.push_back(ranks.StartAllReduce(torch::ones({1000})));
    }
    for (const uint64_t operation : operations) ranks.Wait(operation);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(NcclCommunicator, TypesThatRanksDoNotExchangeAreRefused) {
  const auto errors = OnRanks([](Communicator& ranks) {
    EXPECT_THROW(ranks.StartAllReduce(torch::ones({2}, torch::kBFloat16)),
                 c10::Error);
    EXPECT_THROW(ranks.StartAllReduce(torch::ones({2, 3}).t()), c10::Error);
    EXPECT_THROW(ranks.StartAllReduce(torch::ones({2}, torch::kUInt8)),
                 c10::Error);
    ranks.Barrier();
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST(NcclCommunicator, HungOperationNamesItsStep) {
  const auto errors = OnRanks(
      [](Communicator& ranks) {
        ranks.SetStep(11);
        ranks.Barrier();
        Fake().HangOperation(-1, 0);
        Tensor values = torch::ones({4});
        ranks.AllReduce(values);
      },
      [](nccl::CliqueOptions& options) {
        options.limit = std::chrono::milliseconds(100);
      });
  EXPECT_THAT(errors, Each(AllOf(StartsWith("OperationError: "),
                                 HasSubstr("operation 0 of step 11, a sum of 4 "
                                           "float32, on the device of rank"))));
}

TEST(NcclCommunicator, AbortTellsTheOthersWhy) {
  const auto errors = OnRanks([](Communicator& ranks) {
    if (ranks.rank() == 1) {
      ranks.Abort("the disk died");
      ranks.Abort("again");
    }
    Tensor values = torch::ones({4});
    ranks.AllReduce(values);
  });
  EXPECT_THAT(errors, Each(AllOf(StartsWith("OperationError: "),
                                 HasSubstr("the disk died"))));
  EXPECT_EQ(Fake().Living(), 0);
}

TEST(NcclCommunicator, NobodyPassesABarrierWhereDevicesDidDifferentThings) {
  const auto errors = OnRanks([](Communicator& ranks) {
    // One that NCCL does not see to be another.
    ranks.SetStep(4);
    std::vector<Tensor> kept;
    for (int i = 0; i <= ranks.rank(); ++i) {
      kept.push_back(torch::ones({4}));
      ranks.StartAllReduce(kept.back());
    }
    ranks.Barrier();
  });
  EXPECT_THAT(errors,
              Each(AllOf(StartsWith("OperationError: "),
                         HasSubstr("before step 4 rank 1 asked its device"))));
}

}  // namespace
}  // namespace leadline::collective
