#include "worker/agent/gpu_watch.h"

#include <atomic>
#include <semaphore>

#include <gmock/gmock.h>

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using SteadyTime = GpuWatch::SteadyTime;

/// A driver that answers when a test lets it.
struct Driver {
  std::counting_semaphore<> may_answer{0};
  std::atomic<int> looks = 0;
  std::atomic<bool> is_broken = false;
};

class FakeProber final : public DeviceProber {
 public:
  explicit FakeProber(Driver& driver) : driver_(driver) {}

  absl::StatusOr<GpuList> ListGpus() override {
    driver_.may_answer.acquire();
    ++driver_.looks;
    if (driver_.is_broken) return absl::UnavailableError("lost");
    GpuList list;
    list.gpus.push_back({0, "GPU-a", "fake", 100, driver_.looks});
    return list;
  }

 private:
  Driver& driver_;
};

class GpuWatchTest : public ::testing::Test {
 protected:
  ~GpuWatchTest() override { driver_.may_answer.release(10); }

  void Pass(SteadyTime::duration time) { now_ = now_.load() + time; }

  /// Lets the driver answer, and waits until it has.
  void Answer() {
    driver_.may_answer.release();
    while (watch_.Asking() > SteadyTime::duration::zero()) {
      std::this_thread::yield();
    }
  }

  bool Knows(SteadyTime since) { return watch_.Latest(since).has_value(); }

  Driver driver_;
  std::atomic<SteadyTime> now_ = SteadyTime(seconds(100));
  GpuWatch watch_{std::make_unique<FakeProber>(driver_),
                  [this] { return now_.load(); }};
};

TEST_F(GpuWatchTest, NobodyWaitsForTheDriverAndAllShareItsAnswer) {
  const SteadyTime begin = now_;
  EXPECT_FALSE(Knows(begin));
  Pass(seconds(3));  // it may take longer than an answer is good for
  EXPECT_FALSE(Knows(begin));
  EXPECT_EQ(watch_.Asking(), seconds(3));
  Answer();
  Pass(milliseconds(900));
  for (int i = 0; i < 3; ++i) {
    const auto found = watch_.Latest(begin);
    ASSERT_TRUE(found && found->ok());
    EXPECT_EQ((*found)->gpus.front().free_bytes, 1);
  }
  EXPECT_EQ(driver_.looks, 1);
}

TEST_F(GpuWatchTest, DriverIsAskedAgainAfterASecondAndOnlyIfSomebodyWaits) {
  const SteadyTime begin = now_;
  EXPECT_FALSE(Knows(begin));
  Pass(milliseconds(1));
  Answer();
  Pass(seconds(60));
  EXPECT_EQ(watch_.Asking(), seconds(0));
  EXPECT_FALSE(Knows(begin));
  Pass(milliseconds(1));
  Answer();
  EXPECT_EQ((*watch_.Latest(begin))->gpus.front().free_bytes, 2);
}

TEST_F(GpuWatchTest, WhatWasSeenBeforeSomebodyCameIsNoAnswerToIt) {
  EXPECT_FALSE(Knows(now_));
  Pass(milliseconds(1));
  const SteadyTime came = now_;
  Answer();
  EXPECT_FALSE(Knows(came));
  EXPECT_EQ(watch_.Asking(), seconds(0));
  Pass(seconds(1));
  EXPECT_FALSE(Knows(came));
  Pass(milliseconds(1));
  Answer();
  EXPECT_TRUE(Knows(came));
}

TEST_F(GpuWatchTest, DriverThatCannotTellIsAnAnswerToo) {
  driver_.is_broken = true;
  const SteadyTime begin = now_;
  EXPECT_FALSE(Knows(begin));
  Pass(milliseconds(1));
  Answer();
  const auto found = watch_.Latest(begin);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->ok());
}

}  // namespace
}  // namespace leadline::agent
