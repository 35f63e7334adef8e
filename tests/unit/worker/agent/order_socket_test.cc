#include "worker/agent/order_socket.h"

#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace leadline::agent {
namespace {

/// A trainer's end of the socket.
class OrderSocketTest : public ::testing::Test {
 protected:
  OrderSocketTest() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (folder_ / "orders.sock").c_str());
    listener_ = FileDescriptor(socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address),
                   sizeof address),
              0);
    EXPECT_EQ(listen(listener_.get(), 1), 0);
  }
  ~OrderSocketTest() override { std::filesystem::remove_all(folder_); }

  static std::filesystem::path MakeFolder() {
    std::string pattern = testing::TempDir() + "orders_XXXXXX";
    return mkdtemp(pattern.data());
  }
  bool Renew() { return orders_.Send("renew", {}); }
  FileDescriptor Accept() {
    return FileDescriptor(accept(listener_.get(), nullptr, nullptr));
  }
  static void Say(const FileDescriptor& trainer, const std::string& bytes) {
    EXPECT_EQ(write(trainer.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }

  std::filesystem::path folder_ = MakeFolder();
  FileDescriptor listener_;
  OrderSocket orders_{folder_};
};

TEST_F(OrderSocketTest, TheNewestAnswerCountsThatIsWhole) {
  EXPECT_EQ(orders_.Waits(), "");
  ASSERT_TRUE(Renew());
  const FileDescriptor trainer = Accept();
  Say(trainer, "{\"waits_for\":\"rain\"}\n{\"waits_for\":\"ro");
  EXPECT_EQ(orders_.Waits(), "rain");
  Say(trainer, "om\"}\n");
  EXPECT_EQ(orders_.Waits(), "room");
  Say(trainer, "{\"waits_for\":\"\"}\n");
  EXPECT_EQ(orders_.Waits(), "");
}

TEST_F(OrderSocketTest, WhatIsNoAnswerSaysNothing) {
  ASSERT_TRUE(Renew());
  const FileDescriptor trainer = Accept();
  for (const char* rubbish :
       {"\n", "7\n", "[[[[\n", "{\"waits_for\":7}\n", "{\"waits\":\"x\"}\n"}) {
    Say(trainer, rubbish);
    EXPECT_EQ(orders_.Waits(), "") << rubbish;
  }
  // A line without an end is not kept for ever.
  Say(trainer, std::string(20'000, 'x'));
  EXPECT_EQ(orders_.Waits(), "");
  EXPECT_TRUE(Renew());
}

TEST_F(OrderSocketTest, ATrainerThatHasGoneWaitsForNothing) {
  ASSERT_TRUE(Renew());
  {
    const FileDescriptor trainer = Accept();
    Say(trainer, "{\"waits_for\":\"room\"}\n");
    EXPECT_EQ(orders_.Waits(), "room");
  }
  EXPECT_EQ(orders_.Waits(), "");
}

}  // namespace
}  // namespace leadline::agent
