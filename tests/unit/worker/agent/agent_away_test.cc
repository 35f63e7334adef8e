// What an agent says, and to whom, while its coordinator is not to be had.

#include <array>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "errors/error_code.h"
#include "session_fixture.h"
#include "worker/agent/file_descriptor.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentAway : public SessionFixture {
 protected:
  /// What is said of an agent that was registered, and then is not let in.
  void LoseTo(void (*change)(FakeHabits&)) {
    coordinator_.Change(change);
    coordinator_.DropStreams();
  }
  void AwaitRefusals(int64_t count) {
    Await([=](const Heard& heard) { return heard.streams_refused >= count; });
  }
};

TEST_F(AgentAway, WhatAPersonMustMendIsAnErrorOfItsOwnAndToldOnce) {
  RunningAgent agent(coordinator_.address());
  Await(IsRegistered);
  LoseTo([](FakeHabits& habits) { habits.bars = true; });
  const test::LogLine refused = agent.log().WaitFor("coordinator_refuses");
  EXPECT_EQ(refused.level, LogLevel::kError);
  EXPECT_EQ(refused.fields.at("code"), "unauthenticated");
  EXPECT_EQ(refused.fields.at("message"), "no such token");
  EXPECT_EQ(refused.fields.at("next"), "tries again until it is let in");
  AwaitRefusals(10);
  EXPECT_EQ(agent.log().Of("coordinator_refuses").size(), 1U);
  const auto gone = agent.log().Of("coordinator_gone");
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].fields.at("code"), "unreachable");
  EXPECT_THAT(gone[0].fields.at("message"), HasSubstr("broke the connection"));
  // Another reason is news.
  LoseTo([](FakeHabits& habits) {
    habits.bars = false;
    habits.refuses = true;
  });
  AwaitRefusals(20);
  const auto both = agent.log().Of("coordinator_refuses");
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].fields.at("code"), "name_taken");
  EXPECT_TRUE(agent.Stop().ok());
}

TEST_F(AgentAway, ATokensFileThatIsGoneIsAnErrorToo) {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "token").string();
  std::ofstream(file) << "word\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  AgentOptions options;
  options.session.token.file = file;
  RunningAgent agent(coordinator_.address(), options);
  Await(IsRegistered);
  std::filesystem::remove(file);
  coordinator_.DropStreams();
  const test::LogLine refused = agent.log().WaitFor("coordinator_refuses");
  EXPECT_EQ(refused.level, LogLevel::kError);
  EXPECT_THAT(refused.fields.at("message"), HasSubstr(file));
}

TEST(AgentAlone, ANameThatIsTakenSaysHowLongItWaitsAndShowsNoMarkup) {
  FakeCoordinator coordinator;
  coordinator.Change([](FakeHabits& habits) { habits.refuses = true; });
  RunningAgent agent(coordinator.address());
  const test::LogLine refused = agent.log().WaitFor("coordinator_refuses");
  EXPECT_EQ(refused.level, LogLevel::kWarning) << "it may pass";
  EXPECT_EQ(refused.fields.at("code"), "name_taken");
  EXPECT_EQ(refused.fields.at("next"), "tries for 30 s more, then ends");
  for (const auto& [key, value] : refused.fields) {
    EXPECT_THAT(value, Not(HasSubstr("leadline/"))) << key;
  }
}

/// A server that answers every connection with a line, as web servers do.
class WebServer {
 public:
  WebServer() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listening_.get(), plain, size), 0);
    EXPECT_EQ(listen(listening_.get(), 8), 0);
    EXPECT_EQ(getsockname(listening_.get(), plain, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~WebServer() {
    shutdown(listening_.get(), SHUT_RDWR);
    thread_.join();
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void Serve() {
    constexpr std::string_view kAnswer =
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    while (true) {
      const FileDescriptor one(
          accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!one) return;
      std::array<char, 256> request{};
      if (recv(one.get(), request.data(), request.size(), 0) > 0) {
        send(one.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
      }
    }
  }

  FileDescriptor listening_{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  int port_ = 0;
  std::thread thread_;
};

TEST(AgentAlone, SaysWhatItMetWhereNoCoordinatorAnswers) {
  const WebServer web;
  const ScratchFolder folder;
  const std::pair<std::string, const char*> cases[] = {
      {"127.0.0.1:1", "(Connection refused)"},
      {"unix:" + (folder.path() / "none").string(), "(No such file"},
      {web.address(), "--http"}};
  for (const auto& [address, why] : cases) {
    AgentOptions options;
    options.session.connect_timeout = milliseconds(300);
    options.session.moment_to_tell = kPatience;
    RunningAgent agent(address, options);
    const test::LogLine gone = agent.log().WaitFor("coordinator_gone");
    EXPECT_EQ(gone.level, LogLevel::kWarning);
    EXPECT_EQ(gone.fields.at("code"), "unreachable");
    EXPECT_THAT(gone.fields.at("message"),
                AllOf(HasSubstr("no coordinator answers at " + address),
                      HasSubstr(why)));
  }
}

TEST(AgentAlone, TellsWhatACoordinatorSaysThatCameUpInBetween) {
  FakeCoordinator coordinator;
  coordinator.Change([](FakeHabits& habits) { habits.bars = true; });
  AgentOptions options;
  options.session.connect_timeout = milliseconds(0);  // it came too late
  options.session.moment_to_tell = kPatience;
  RunningAgent agent(coordinator.address(), options);
  const test::LogLine gone = agent.log().WaitFor("coordinator_gone");
  EXPECT_THAT(gone.fields.at("message"), HasSubstr("(no such token)"));
}

}  // namespace
}  // namespace leadline::agent
