#include "tls/host_port.h"

#include <gtest/gtest.h>

#include "tls/client.h"

namespace leadline::tls {
namespace {

TEST(HostPortTest, HostsAndPortsAreTakenApart) {
  EXPECT_EQ(ParseHostPort("a.example:7000")->host, "a.example");
  EXPECT_EQ(ParseHostPort("a.example:7000")->port, 7000);
  EXPECT_EQ(ParseHostPort("[::1]:1")->host, "::1");
  EXPECT_EQ(ParseHostPort("[fe80::1%eth0]:1")->host, "fe80::1%eth0");
  for (const char* text : {"",           ":",         ":1",
                           "a",          "a:",        "a:65536",
                           "a:-1",       "a:1x",      "a:99999999999999999999",
                           "http://a:1", "//a:1",     "a/b:1",
                           "::1:7000",   "[::1:7000", "::1]:7000",
                           "[]:1",       "[a]:1",     "[1.2.3.4]:1",
                           "*:1",        "a b:1",     "a@b:1",
                           "a\n:1",      "\xff:1"}) {
    EXPECT_FALSE(ParseHostPort(text)) << text;
  }
}

TEST(HostPortTest, WhatIsNoAddressIsToldWithWhatIsMeant) {
  constexpr AddressForm kListener = {.may_be_any_port = true};
  constexpr AddressForm kNoSocket = {.may_be_socket = false};
  for (const char* text :
       {"a.example:7000", "my_host-1:1", "10.0.0.5:65535", "[::1]:7000",
        "[fe80::1%eth0]:1", "unix:/run/a", "unix:a"}) {
    EXPECT_EQ(WhyNotAddress(text), "") << text;
  }
  EXPECT_EQ(WhyNotAddress("0.0.0.0:0", kListener), "");
  const struct {
    const char* text;
    AddressForm form;
    const char* why;
  } cases[] = {
      {"http://192.0.2.2:7070",
       {},
       "expected HOST:PORT or unix:PATH, found http://192.0.2.2:7070; leave "
       "out http://"},
      {"https://0.0.0.0:1", kNoSocket,
       "expected HOST:PORT, found https://0.0.0.0:1; leave out https://"},
      {"", {}, "expected HOST:PORT or unix:PATH, found nothing"},
      {"a.example",
       {},
       "expected HOST:PORT or unix:PATH, found a.example; the port is missing"},
      {":7070",
       {},
       "expected HOST:PORT or unix:PATH, found :7070; the host is missing"},
      {"::1:7070",
       {},
       "expected HOST:PORT or unix:PATH, found ::1:7070; an IPv6 address "
       "stands in brackets, [::1]:7070"},
      {"/run/a.sock",
       {},
       "expected HOST:PORT or unix:PATH, found /run/a.sock; a socket's path "
       "begins with unix:"},
      {"a:1/metrics", kNoSocket,
       "expected HOST:PORT, found a:1/metrics; it has no path"},
      {"a:0",
       {},
       "expected HOST:PORT or unix:PATH, found a:0; ports are numbers from 1 "
       "to 65535"},
      {"a:x", kListener,
       "expected HOST:PORT or unix:PATH, found a:x; ports are numbers from 0 "
       "to 65535"},
      {"*:1",
       {},
       "expected HOST:PORT or unix:PATH, found *:1; that is no host"},
      {"unix:", {}, "expected unix:PATH, found unix: alone"},
      {"unix:/run/a", kNoSocket,
       "expected HOST:PORT, found unix:/run/a; it has no path"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(WhyNotAddress(one.text, one.form), one.why);
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
