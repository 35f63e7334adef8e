#include <gtest/gtest.h>

#include "worker/agent/failure_text.h"
#include "worker/agent/oom_evidence.h"

namespace leadline::agent {
namespace {

TEST(OomEvidence, CountsOfAControlGroupAreRead) {
  const std::string events = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\n";
  EXPECT_EQ(CountOf(events, "oom_kill"), 2);
  EXPECT_EQ(CountOf("oom_kill_disable 0\nunder_oom 0\noom_kill 7", "oom_kill"),
            7);
  EXPECT_EQ(CountOf("oom 3\n", "oom_kill"), std::nullopt);
  EXPECT_EQ(CountOf("oom_kill many\n", "oom_kill"), std::nullopt);
  EXPECT_EQ(CountOf("", "oom_kill"), std::nullopt);
  EXPECT_GE(CountOomKills(), 0);
}

TEST(OomEvidence, TheKernelsLogNamesAProcessNotBeforeItBegan) {
  const std::string log =
      "6,1,2000000,-;usb 1-1: new device\n"
      "3,2,5000000,-;Out of memory: Killed process 77 (leadline-traine) "
      "total-vm:1kB\n"
      "3,3,9000000,-;Memory cgroup out of memory: Killed process 78 (x) "
      "total-vm:1kB\n"
      " SUBSYSTEM=usb\n"
      "nonsense out of memory: Killed process 79 (x)\n";
  EXPECT_TRUE(NamesOomKill(log, 77, 4.5));
  EXPECT_FALSE(NamesOomKill(log, 77, 5.5));  // another that had its number
  EXPECT_TRUE(NamesOomKill(log, 78, 0));
  EXPECT_FALSE(NamesOomKill(log, 7, 0));
  EXPECT_FALSE(NamesOomKill(log, 79, 0));
  EXPECT_FALSE(NamesOomKill("", 77, 0));
}

struct Saying {
  const char* text;
  FailureKind kind;
};

TEST(FailureText, WhatLibrariesSayTellsTheKind) {
  for (const Saying& saying : {
           Saying{"CUDA out of memory. Tried to allocate", FailureKind::kOom},
           Saying{"terminate called after throwing an instance of "
                  "'std::bad_alloc'",
                  FailureKind::kOom},
           Saying{"cannot write an event: No space left on device",
                  FailureKind::kDisk},
           Saying{"CUDA error: an illegal memory access", FailureKind::kDevice},
           Saying{"cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
                  FailureKind::kDevice},
           Saying{"NCCL error in: a.cpp:3, unhandled cuda error",
                  FailureKind::kNccl},
           Saying{"NCCL WARN ncclCommInitRank failed", FailureKind::kNcclInit},
           Saying{"leadline-trainer: NCCL init: a call of NCCL has not "
                  "returned within 60 s",
                  FailureKind::kNcclInit},
           Saying{"leadline-trainer: NCCL: a call of NCCL has not returned "
                  "within 30 s",
                  FailureKind::kNccl},
       }) {
    EXPECT_EQ(KindFromText(saying.text), saying.kind) << saying.text;
  }
  EXPECT_EQ(KindFromText("Segmentation fault"), std::nullopt);
  EXPECT_EQ(KindFromText(""), std::nullopt);
}

}  // namespace
}  // namespace leadline::agent
