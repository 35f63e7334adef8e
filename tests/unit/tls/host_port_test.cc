#include "tls/host_port.h"

#include <gtest/gtest.h>

#include "tls/client.h"

namespace leadline::tls {
namespace {

TEST(HostPortTest, HostsAndPortsAreTakenApart) {
  EXPECT_EQ(ParseHostPort("a.example:7000")->host, "a.example");
  EXPECT_EQ(ParseHostPort("a.example:7000")->port, 7000);
  EXPECT_EQ(ParseHostPort("[::1]:1")->host, "::1");
  for (const char* text : {"", ":", ":1", "a", "a:", "a:65536", "a:-1", "a:1x",
                           "a:99999999999999999999"}) {
    EXPECT_FALSE(ParseHostPort(text)) << text;
  }
}

TEST(HostPortTest, OnlyWhatCannotLeaveTheMachineIsLoopback) {
  for (const char* host : {"127.0.0.1", "127.8.0.1", "::1", "localhost"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  for (const char* host :
       {"0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example", "localhost.example",
        "LOCALHOST.evil", "1127.0.0.1", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

TEST(HostPortTest, WhatLeavesTheMachineIsAlwaysEncrypted) {
  EXPECT_FALSE(IsEncrypted("unix:/run/x", {}));
  EXPECT_FALSE(IsEncrypted("127.0.0.1:1", {}));
  EXPECT_TRUE(IsEncrypted("127.0.0.1:1", {"ca.pem", "", ""}));
  for (const char* address :
       {"10.0.0.1:1", "a.example:1", "[::]:1", "127.0.0.1", "nonsense"}) {
    EXPECT_TRUE(IsEncrypted(address, {})) << address;
  }
}

}  // namespace
}  // namespace leadline::tls
