#include "worker/agent/system_file.h"

#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/agent/proc_stat.h"

namespace leadline::agent {
namespace {

TEST(ReadSystemFile, GivesAllThatIsThere) {
  EXPECT_EQ(ReadSystemFile("/proc/self/comm").back(), '\n');
}

// As of a process that ends between opening and reading.
TEST(ReadSystemFile, AFailingReadIsNothingAndNoException) {
  EXPECT_EQ(ReadSystemFile("/proc/self/mem"), "");
  EXPECT_EQ(ReadSystemFile("/proc/self"), "");
  EXPECT_EQ(ReadSystemFile("/proc/none"), "");
}

TEST(ReadSystemFile, ProcessesThatEndWhileTheyAreListedAreNoFault) {
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    ListProcesses();
    WasStartedWith(child, "A=B");
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
  }
}

}  // namespace
}  // namespace leadline::agent
