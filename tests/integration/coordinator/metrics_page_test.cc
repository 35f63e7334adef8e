#include <chrono>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coordinator_world.h"
#include "fake_agent.h"

namespace leadline {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::string Get(const std::string& address, const std::string& path) {
  const size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port =
      htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(client, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  const std::string request =
      "GET " + path + " HTTP/1.1\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(write(client, request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char part[4096];
  for (ssize_t n = 0; (n = read(client, part, sizeof part)) > 0;) {
    answer.append(part, static_cast<size_t>(n));
  }
  close(client);
  return answer;
}

/// Some figures follow within a second.
std::string PageWith(CoordinatorWorld& world, const std::string& line) {
  const auto until = std::chrono::steady_clock::now() + seconds(30);
  std::string page;
  do {
    page = Get(*world.coordinator().http_address(), "/metrics");
  } while (page.find(line) == std::string::npos &&
           std::chrono::steady_clock::now() < until);
  return page;
}

TEST(MetricsPageTest, TellsOfASweepThatWasTrained) {
  CoordinatorWorld world;
  FakeAgent agent(world.Channel(), RegisterMessage("node-1", 2));
  v1::SubmitReply reply;
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &reply).ok());
  world.Follow("s1");
  const std::string page = PageWith(
      world, "\nleadline_sweep_trials{sweep=\"s1\",state=\"succeeded\"} 4\n");
  for (const char* line : {
           "leadline_sweep_trials{sweep=\"s1\",state=\"succeeded\"} 4",
           "leadline_trials{state=\"succeeded\"} 4",
           "leadline_trials{state=\"queued\"} 0",
           "leadline_nodes{state=\"connected\"} 1",
           "leadline_attempts_total{kind=\"none\",outcome=\"succeeded\"} 2",
           "leadline_points_total{result=\"stored\"} 8",
           "leadline_rpc_seconds_count{code=\"OK\",method=\"SweepService/"
           "Submit\"} 1",
           "leadline_rpc_seconds_count{code=\"OK\",method=\"SweepService/"
           "Watch\"} 1",
           "leadline_cell_loss_mean{sweep=\"s1\",depth=\"2\",dataset=\"iid27\","
           "method=\"prenorm\"} 1.5",
           "leadline_cell_loss_seeds{sweep=\"s1\",depth=\"2\",dataset="
           "\"iid27\",method=\"prenorm\"} 2",
           "leadline_build_info{version=\"test\",commit=\"unknown\"} 1",
       }) {
    EXPECT_THAT(page, HasSubstr("\n" + std::string(line) + "\n"));
  }
}

TEST(MetricsPageTest, StreamsAndErrorsOfCallsAreCounted) {
  CoordinatorWorld world;
  v1::SubmitReply reply;
  EXPECT_FALSE(world.Submit(world.Request("rubbish"), &reply).ok());
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &reply).ok());
  {
    grpc::ClientContext context;
    v1::WatchRequest request;
    request.set_sweep("s1");
    const auto stub = world.Sweeps();
    const auto stream = stub->Watch(&context, request);
    v1::Progress progress;
    ASSERT_TRUE(stream->Read(&progress));
    context.TryCancel();
    stream->Finish();
  }
  EXPECT_THAT(
      Get(*world.coordinator().http_address(), "/metrics"),
      HasSubstr("\nleadline_rpc_seconds_count{code=\"INVALID_ARGUMENT\","
                "method=\"SweepService/Submit\"} 1\n"));
  const std::string line =
      "\nleadline_rpc_seconds_count{code=\"CANCELLED\",method=\"SweepService/"
      "Watch\"} 1\n";
  EXPECT_THAT(PageWith(world, line), HasSubstr(line));
}

TEST(MetricsPageTest, ManyWhoSayNothingHoldNoCallUp) {
  CoordinatorWorld world;
  const std::string address = *world.coordinator().http_address();
  std::vector<int> silent;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(
      static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  for (int i = 0; i < 200; ++i) {
    silent.push_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(
        connect(silent.back(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  FakeAgent agent(world.Channel(), RegisterMessage("n", 2));
  v1::SubmitReply reply;
  ASSERT_TRUE(world.Submit(world.Request(kSmallSweep), &reply).ok());
  EXPECT_TRUE(world.Follow("s1").back().ended());
  for (const int client : silent) close(client);
}

}  // namespace
}  // namespace leadline
