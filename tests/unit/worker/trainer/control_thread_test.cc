#include "worker/trainer/control_thread.h"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "worker/trainer/orders.h"

namespace leadline::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Waits for what the thread does; the test's own timeout bounds it.
template <typename Condition>
void Await(Condition condition) {
  while (!condition()) std::this_thread::yield();
}

StopRequest AwaitStop(const RunControl& control) {
  for (;;) {
    try {
      control.Heed();
      std::this_thread::yield();
    } catch (const Stopped& stopped) {
      return stopped.request;
    }
  }
}

class ControlThreadTest : public testing::Test {
 protected:
  ControlThreadTest() {
    BlockStopSignals();
    std::string pattern = testing::TempDir() + "control_XXXXXX";
    root_ = mkdtemp(pattern.data());
    // Far above the 107 bytes of a socket's address.
    folder_ = root_ / std::string(100, 'a') / std::string(100, 'b');
    std::filesystem::create_directories(folder_);
  }
  ~ControlThreadTest() override { std::filesystem::remove_all(root_); }

  Descriptor Connect() const {
    std::filesystem::current_path(folder_);
    Descriptor client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "orders.sock");
    EXPECT_EQ(connect(client.number(), reinterpret_cast<sockaddr*>(&address),
                      sizeof(address)),
              0);
    return client;
  }

  static void Send(const Descriptor& client, const std::string& bytes) {
    EXPECT_EQ(write(client.number(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }

  std::filesystem::path root_;
  std::filesystem::path folder_;
  RunControl control_;
};

TEST_F(ControlThreadTest, AThreadThatCannotGoOnEndsTheRunAndSaysWhy) {
  RunControl control;
  const ControlThread thread({.folder = folder_}, control);
  const Descriptor client = Connect();
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  // poll refuses more descriptors than may be open.
  const rlimit few{1, limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  Send(client, "{\"order\":\"renew\"}\n");
  const StopRequest request = AwaitStop(control);
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(request.outcome, AttemptOutcome::kFailed);
  EXPECT_EQ(request.kind, FailureKind::kCrash);
  EXPECT_THAT(request.message, HasSubstr("the thread that hears orders"));
}

TEST_F(ControlThreadTest, OrdersComeFromSeveralConnectionsInPieces) {
  const ControlThread thread({.folder = folder_}, control_);
  const Descriptor first = Connect();
  const Descriptor second = Connect();
  Send(first, "{\"order\":\"drop_rep");
  Send(second, "{\"order\":\"renew\"}\nnonsense\n");
  Send(first, "lica\",\"replica\":2}\n");
  std::vector<int64_t> drops;
  Await([&] { return !(drops = control_.TakeDrops()).empty(); });
  EXPECT_THAT(drops, ElementsAre(2));
  EXPECT_NO_THROW(control_.Heed());
  Send(second, "{\"order\":\"stop\"}\n");
  EXPECT_EQ(AwaitStop(control_).outcome, AttemptOutcome::kCancelled);
}

TEST_F(ControlThreadTest, WhoGivesAnOrderHearsWhatIsWaitedFor) {
  const ControlThread thread({.folder = folder_}, control_);
  const Descriptor client = Connect();
  const auto answer = [&] {
    Send(client, "{\"order\":\"renew\"}\n");
    std::string line;
    for (char byte = 0; byte != '\n'; line += byte) {
      EXPECT_EQ(read(client.number(), &byte, 1), 1);
    }
    return line;
  };
  EXPECT_EQ(answer(), "{\"waits_for\":\"\"}\n");
  control_.WaitFor("a", "for \"this\"");
  control_.WaitFor("b", "for that");
  EXPECT_EQ(answer(), "{\"waits_for\":\"for \\\"this\\\"; for that\"}\n");
  control_.WaitFor("a", {});
  EXPECT_EQ(answer(), "{\"waits_for\":\"for that\"}\n");
}

TEST_F(ControlThreadTest, SilenceEndsATrainerInAFolder) {
  const ControlThread thread(
      {.folder = folder_, .longest_silence = std::chrono::milliseconds(20)},
      control_);
  const StopRequest request = AwaitStop(control_);
  EXPECT_EQ(request.outcome, AttemptOutcome::kFailed);
  EXPECT_EQ(request.kind, FailureKind::kAgentLost);
  EXPECT_THAT(request.message, HasSubstr("silent"));
}

TEST_F(ControlThreadTest, RenewalsThatWaitedTooLongRenewNothing) {
  const ControlThread thread(
      {.folder = folder_, .longest_silence = std::chrono::milliseconds(200)},
      control_);
  const Descriptor client = Connect();
  // As good as endless: only what they say of themselves makes them old.
  const std::string old = "{\"order\":\"renew\",\"as_of_ms\":1}\n";
  std::jthread renewing([&](const std::stop_token& stop) {
    while (!stop.stop_requested() &&
           send(client.number(), old.data(), old.size(), MSG_NOSIGNAL) > 0) {
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(AwaitStop(control_).kind, FailureKind::kAgentLost);
}

TEST_F(ControlThreadTest, ConnectionThatNeverEndsItsLineIsClosed) {
  const ControlThread thread({.folder = folder_}, control_);
  const Descriptor client = Connect();
  const std::string bytes(3000, 'x');
  for (int i = 0; i < 8; ++i) {
    if (write(client.number(), bytes.data(), bytes.size()) < 0) break;
  }
  char byte = 0;
  EXPECT_LE(read(client.number(), &byte, 1), 0);
}

TEST_F(ControlThreadTest, SignalAsksForAStop) {
  const ControlThread thread({}, control_);
  kill(getpid(), SIGTERM);
  EXPECT_EQ(AwaitStop(control_).outcome, AttemptOutcome::kCancelled);
}

TEST_F(ControlThreadTest, SocketIsGoneWithItsThread) {
  { const ControlThread thread({.folder = folder_}, control_); }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST(Orders, WhatIsNoOrderIsNone) {
  for (const char* line :
       {"", "{}", "[]", "{\"order\":1}", "{\"order\":\"explode\"}",
        "{\"order\":\"drop_replica\"}",
        "{\"order\":\"drop_replica\",\"replica\":1.5}",
        "{\"order\":\"stop\",\"order\":\"renew\"}"}) {
    EXPECT_FALSE(ParseOrder(line)) << line;
  }
  EXPECT_EQ(ParseOrder("{\"order\":\"renew\",\"until\":5}")->kind,
            Order::Kind::kRenew);
  EXPECT_THAT(
      ParseOrder("{\"order\":\"peers\",\"peers\":[\"a:1\",\"b:2\"]}")->peers,
      ElementsAre("a:1", "b:2"));
  EXPECT_EQ(ParseOrder("{\"order\":\"stop\",\"as_of_ms\":5}")->as_of_ms, 5);
  EXPECT_FALSE(ParseOrder("{\"order\":\"stop\",\"as_of_ms\":true}")->as_of_ms);
}

}  // namespace
}  // namespace leadline::trainer
