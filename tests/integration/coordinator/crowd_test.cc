// Many agents that come, ask and report at the same moment.

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator_world.h"
#include "fake_agent.h"

namespace leadline {
namespace {

using testing::SizeIs;

/// Releases so many threads at once, again and again. Who waits in vain is
/// released after a minute, so that a test ends.
class Gate {
 public:
  explicit Gate(size_t size) : size_(size) {}

  void Pass() {
    std::unique_lock lock(mutex_);
    const size_t round = round_;
    if (++here_ == size_) {
      here_ = 0;
      ++round_;
      all_are_here_.notify_all();
      return;
    }
    all_are_here_.wait_for(lock, std::chrono::minutes(1),
                           [&] { return round_ != round; });
  }

 private:
  const size_t size_;
  std::mutex mutex_;
  std::condition_variable all_are_here_;
  size_t here_ = 0;
  size_t round_ = 0;
};

/// A sweep of that many cells of one seed, an attempt each.
std::string SweepOf(int64_t trials) {
  std::string text =
      "leadline: 1\nname: crowd\nseeds: 1\nsettings: {d_model: 32, n_heads: 2,"
      " method: prenorm, dataset: iid27}\naxes:\n  steps: [";
  for (int64_t i = 1; i <= trials; ++i) {
    text += (i > 1 ? ", " : "") + std::to_string(i);
  }
  return text + "]\n";
}

/// What was handed out, by the agents' own account.
class HandedOut {
 public:
  void Note(const v1::StartAttempt& order) {
    const std::lock_guard lock(mutex_);
    for (const std::string& trial : order.trials()) ++times_[trial];
  }

  void ExpectEachOnce(size_t trials) {
    const std::lock_guard lock(mutex_);
    EXPECT_THAT(times_, SizeIs(trials));
    for (const auto& [trial, times] : times_) EXPECT_EQ(times, 1) << trial;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int> times_;
};

/// Agents that register in one moment; each answers an order as told.
class Crowd {
 public:
  Crowd(CoordinatorWorld& world, size_t agents, int64_t slots,
        const FakeAgent::Hear& hear)
      : agents_(agents) {
    Gate gate(agents);
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < agents; ++i) {
      threads.emplace_back([&, i] {
        const auto channel = world.Channel();
        const auto first = RegisterMessage("n" + std::to_string(i), slots);
        gate.Pass();
        agents_[i] = std::make_unique<FakeAgent>(channel, first, hear);
      });
    }
  }

 private:
  std::vector<std::unique_ptr<FakeAgent>> agents_;
};

void ExpectAllSucceededAtOnce(CoordinatorWorld& world, int64_t trials) {
  const v1::Progress last = world.Follow("s1").back();
  EXPECT_EQ(last.state(), "complete");
  EXPECT_EQ(last.trials().at("succeeded"), trials);
  const auto rows =
      *world.reader().ListTrials(SweepId{1}, std::nullopt, std::nullopt, 9999);
  EXPECT_EQ(std::ssize(rows), trials);
  for (const storage::TrialRow& row : rows) EXPECT_EQ(row.attempts, 1);
}

TEST(CrowdTest, EightThatComeAtOnceRunEachTrialOnce) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  ASSERT_TRUE(world.Submit(world.Request(SweepOf(27)), &reply).ok());
  HandedOut handed_out;
  const Crowd crowd(
      world, 8, 2,
      [&](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        if (message.has_start()) handed_out.Note(message.start());
        FakeAgent::TrainAtOnce(stream, message);
      });
  ExpectAllSucceededAtOnce(world, 27);
  handed_out.ExpectEachOnce(27);
}

int64_t Rounds() {
  const char* given = std::getenv("LEADLINE_CROWD_ROUNDS");
  return given == nullptr ? 30 : std::atoi(given);
}

TEST(CrowdTest, TwentyThatAreFreeAtOnceAreNeverGivenTheSame) {
  constexpr int64_t kAgents = 20;
  const int64_t trials = kAgents * Rounds();
  CoordinatorWorld world;
  v1::SubmitReply reply;
  ASSERT_TRUE(world.Submit(world.Request(SweepOf(trials)), &reply).ok());
  HandedOut handed_out;
  Gate gate(kAgents);
  const Crowd crowd(
      world, kAgents, 1,
      [&](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        if (!message.has_start()) return;
        handed_out.Note(message.start());
        gate.Pass();
        FakeAgent::TrainAtOnce(stream, message);
      });
  ExpectAllSucceededAtOnce(world, trials);
  handed_out.ExpectEachOnce(trials);
}

TEST(CrowdTest, SixtyFourOnOneDatabaseAreNeverToldThatItIsLocked) {
  constexpr int64_t kAgents = 64;
  CoordinatorWorld world(false, Record::kInAFile);
  v1::SubmitReply reply;
  ASSERT_TRUE(world.Submit(world.Request(SweepOf(kAgents)), &reply).ok());
  HandedOut handed_out;
  Gate gate(kAgents);
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_TRUE(world.reader().ListSweeps({}, 10).ok());
    }
  });
  const Crowd crowd(
      world, kAgents, 1,
      [&](FakeAgent::Stream& stream, const v1::CoordinatorMessage& message) {
        if (!message.has_start()) return;
        handed_out.Note(message.start());
        gate.Pass();  // all of them report at once, too
        FakeAgent::TrainAtOnce(stream, message);
      });
  ExpectAllSucceededAtOnce(world, kAgents);
  handed_out.ExpectEachOnce(kAgents);
}

}  // namespace
}  // namespace leadline
