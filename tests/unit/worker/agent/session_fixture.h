// A fake coordinator to run agents against, and what tests wait for.

#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "fake_coordinator.h"
#include "running_agent.h"
#include "worker/agent/proc_stat.h"

namespace leadline::agent {

inline constexpr size_t kRecordsOfARun = 26;  // start, 20 steps, 2 x 2, end

inline constexpr std::chrono::seconds kPatience{20};

inline bool IsRegistered(const Heard& heard) {
  return !heard.registers.empty() && heard.heartbeats > 0;
}

inline bool IsAlive(int64_t pid) {
  const auto stat = ReadProcStat(static_cast<pid_t>(pid));
  return stat && stat->IsAlive();
}

/// CUDA_VISIBLE_DEVICES of a trainer. Waits for it, since a process shows no
/// environment while it becomes another program.
inline std::string DevicesShownTo(int64_t pid) {
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  while (IsAlive(pid) && std::chrono::steady_clock::now() < limit) {
    const auto devices =
        StartedWith(static_cast<pid_t>(pid), "CUDA_VISIBLE_DEVICES");
    if (devices) return *devices;
    std::this_thread::yield();
  }
  return "none were shown";
}

/// Records of the first attempt of cohort s1.1.c0.
inline size_t CountRecords(const Heard& heard) {
  const auto found = heard.records.find("s1.1.c0@1");
  return found == heard.records.end() ? 0 : found->second.size();
}

class SessionFixture : public ::testing::Test {
 protected:
  void Await(const std::function<bool(const Heard&)>& holds) {
    ASSERT_TRUE(coordinator_.WaitFor(holds));
  }
  void AwaitEnds(size_t count) {
    Await([=](const Heard& heard) { return heard.ended.size() >= count; });
  }
  void AwaitStarts(size_t count) {
    Await([=](const Heard& heard) { return heard.started.size() >= count; });
  }
  void AwaitRegisters(size_t count) {
    Await([=](const Heard& heard) { return heard.registers.size() >= count; });
  }
  void AwaitRecords(size_t count) {
    Await([=](const Heard& heard) { return CountRecords(heard) >= count; });
  }

  FakeCoordinator coordinator_;
};

}  // namespace leadline::agent
