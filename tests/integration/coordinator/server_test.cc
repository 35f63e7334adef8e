#include "coordinator/rpc/server.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "coordinator/rpc/listen_address.h"
#include "coordinator_world.h"

namespace leadline::rpc {
namespace {

using testing::HasSubstr;

class NoService final : public v1::SweepService::CallbackService {};

TEST(ListenAddressTest, OnlyLoopbackAndUnixSocketsAreNotPublic) {
  EXPECT_EQ(ParseListenAddress("127.0.0.1:7000")->ToText(), "127.0.0.1:7000");
  EXPECT_EQ(ParseListenAddress("localhost:0")->ToText(), "127.0.0.1:0");
  EXPECT_EQ(ParseListenAddress("[::1]:1")->ToText(), "[::1]:1");
  EXPECT_EQ(ParseListenAddress("unix:/run/x")->ToText(), "unix:/run/x");
  for (const char* address : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1",
                              "example.org:1", "127.0.0.1.x:1"}) {
    EXPECT_TRUE(ParseListenAddress(address)->is_public()) << address;
  }
  for (const char* address : {"127.0.0.1:1", "127.9.9.9:0", "[::1]:1",
                              "localhost:1", "unix:/run/x"}) {
    EXPECT_FALSE(ParseListenAddress(address)->is_public()) << address;
  }
  for (const char* address : {"", ":", ":1", "127.0.0.1", "127.0.0.1:",
                              "127.0.0.1:65536", "127.0.0.1:-1", "unix:"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseListenAddress(address).status()))
        << address;
  }
}

TEST(ServerTest, SecondServerOnAPortEndsWithTheNameOfThePort) {
  NoService service;
  auto first = Server::Start({{*ParseListenAddress("127.0.0.1:0"), nullptr}},
                             {&service});
  ASSERT_TRUE(first.ok()) << first.status();
  const ListenAddress bound = (*first)->address();
  EXPECT_GT(bound.port, 0);
  NoService other;
  const auto second = Server::Start({{bound, nullptr}}, {&other});
  EXPECT_THAT(std::string(second.status().message()),
              HasSubstr("port " + std::to_string(bound.port)));
}

TEST(ServerTest, SecondServerOnASocketLeavesTheFirstAlone) {
  TemporaryFolder folder;
  const auto address =
      *ParseListenAddress("unix:" + (folder.path() / "s").string());
  NoService service;
  auto first = Server::Start({{address, nullptr}}, {&service});
  ASSERT_TRUE(first.ok()) << first.status();
  NoService other;
  EXPECT_THAT(
      std::string(
          Server::Start({{address, nullptr}}, {&other}).status().message()),
      HasSubstr(address.path));
  EXPECT_TRUE(std::filesystem::exists(address.path));
}

TEST(ServerTest, SocketLeftBehindIsTakenOver) {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "s").string();
  const int left = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(left, reinterpret_cast<sockaddr*>(&address), sizeof address),
            0);
  close(left);
  NoService service;
  EXPECT_TRUE(Server::Start({{*ParseListenAddress("unix:" + path), nullptr}},
                            {&service})
                  .ok());
}

TEST(ServerTest, SocketMayLieDeeperThanItsPathCouldHold) {
  TemporaryFolder folder;
  const auto deep =
      folder.path() / std::string(100, 'a') / std::string(100, 'b');
  std::filesystem::create_directories(deep);
  NoService service;
  auto server = Server::Start(
      {{*ParseListenAddress("unix:" + (deep / "coordinator.sock").string()),
        nullptr}},
      {&service});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(std::filesystem::exists(deep / "coordinator.sock"));
}

}  // namespace
}  // namespace leadline::rpc
