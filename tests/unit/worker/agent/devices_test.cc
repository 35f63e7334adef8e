#include "worker/agent/devices.h"

#include <gtest/gtest.h>

#include "worker/agent/backoff.h"
#include "worker/agent/proc_stat.h"

namespace leadline::agent {
namespace {

using Ids = std::vector<std::string>;

TEST(Devices, SlotsAreNamedByNumber) {
  const auto slots = CpuSlots(3);
  ASSERT_EQ(slots.size(), 3U);
  EXPECT_EQ(slots[2].id, "cpu:2");
  EXPECT_EQ(slots[2].type, "cpu");
  EXPECT_GT(slots[2].memory_bytes, 0);
  EXPECT_GE(CountCores(), 1);
}

TEST(Devices, SelectsWhatIsAskedForOrNothing) {
  const auto slots = CpuSlots(3);
  EXPECT_EQ(SelectDevices(slots, Ids{"cpu:2", "cpu:0"}).size(), 2U);
  EXPECT_TRUE(SelectDevices(slots, Ids{"cpu:0", "cpu:0"}).empty());
  EXPECT_TRUE(SelectDevices(slots, Ids{"cpu:0", "cpu:3"}).empty());
  EXPECT_TRUE(SelectDevices(slots, Ids{"../../etc"}).empty());
  EXPECT_TRUE(SelectDevices(slots, Ids{}).empty());
}

TEST(Devices, OneAttemptTakesOneTypeOfDevice) {
  auto devices = CpuSlots(1);
  devices.push_back({"GPU-1", "NVIDIA H200", 1, "cuda:0"});
  EXPECT_TRUE(SelectDevices(devices, Ids{"cpu:0", "GPU-1"}).empty());
}

TEST(Backoff, GrowsToItsLimitAndStartsAnewAfterASuccess) {
  using std::chrono::milliseconds;
  Backoff backoff(milliseconds(100), milliseconds(1000), 7);
  for (const int whole : {100, 200, 400, 800, 1000, 1000}) {
    const auto wait = backoff.Next();
    EXPECT_GE(wait, milliseconds(whole / 2));
    EXPECT_LE(wait, milliseconds(whole));
  }
  backoff.Reset();
  EXPECT_LE(backoff.Next(), milliseconds(100));
}

TEST(ProcStat, ReadsACommandWithParenthesesAndBlanks) {
  const auto stat = ParseProcStat(
      "42 (a) Z (b) x) S 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 "
      "1000 2000");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->group, 40);
  EXPECT_EQ(stat->start_time, 98765U);
}

TEST(ProcStat, NonsenseIsNoProcess) {
  for (const char* text :
       {"", "42", "x (a) S 1 2", "42 (a) S 1 2 3", "(a) S", ") 1 ( S"}) {
    EXPECT_FALSE(ParseProcStat(text)) << text;
  }
}

TEST(ProcStat, SeesThisProcess) {
  const auto stat = ReadProcStat(getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->group, getpgrp());
  EXPECT_TRUE(stat->IsAlive());
  EXPECT_FALSE(ReadBootId().empty());
}

}  // namespace
}  // namespace leadline::agent
