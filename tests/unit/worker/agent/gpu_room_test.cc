#include "worker/agent/gpu_room.h"

#include <vector>

#include <gmock/gmock.h>

namespace leadline::agent {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kGiB = int64_t{1} << 30;

const std::vector<Gpu> kGpus = {{0, "GPU-a", "H200", 140 * kGiB, 139 * kGiB},
                                {1, "GPU-b", "H200", 140 * kGiB, 14 * kGiB},
                                {2, "GPU-c", "H200", 140 * kGiB, {}}};

std::string WhyNot(std::vector<std::string> wanted, int64_t bytes) {
  return WhyNoRoom(kGpus, wanted, bytes);
}

TEST(GpuRoom, WhatAStrangerLeavesDecidesAndIsTold) {
  EXPECT_THAT(WhyNot({"GPU-a"}, 20 * kGiB), IsEmpty());
  EXPECT_THAT(WhyNot({"GPU-b"}, 14 * kGiB), IsEmpty());
  EXPECT_THAT(
      WhyNot({"GPU-a", "GPU-b"}, 20 * kGiB),
      AllOf(HasSubstr("GPU-b has 14.0 GiB free of 140 GiB, and 20.0 GiB are "
                      "needed"),
            HasSubstr("not ours")));
}

TEST(GpuRoom, WhatNoWaitingHelpsIsNotWaitedFor) {
  EXPECT_THAT(WhyNot({"GPU-b"}, 140 * kGiB), HasSubstr("not ours"));
  // More than an empty one has.
  EXPECT_THAT(WhyNot({"GPU-b"}, 140 * kGiB + 1), IsEmpty());
  // Nobody uses it: the rest is the driver's own.
  EXPECT_THAT(WhyNot({"GPU-a"}, 140 * kGiB), IsEmpty());
}

TEST(GpuRoom, OfWhatNobodyCanTellNothingIsSaid) {
  EXPECT_THAT(WhyNot({"GPU-c"}, 200 * kGiB), IsEmpty());
  EXPECT_THAT(WhyNot({"GPU-z", "cpu:0"}, 200 * kGiB), IsEmpty());
  EXPECT_THAT(WhyNot({}, 200 * kGiB), IsEmpty());
}

}  // namespace
}  // namespace leadline::agent
