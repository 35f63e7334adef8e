#include "tls/transport_reason.h"

#include <future>

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

namespace leadline::tls {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What gRPC says of a call to `target`.
std::string WhatGrpcSays(const std::string& target) {
  const auto channel =
      grpc::CreateChannel(target, grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  const grpc::Slice nothing("");
  grpc::ByteBuffer request(&nothing, 1);
  grpc::ByteBuffer reply;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/a/b", {}, &request, &reply,
                 [&](grpc::Status status) { done.set_value(status); });
  const grpc::Status status = done.get_future().get();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  return status.error_message();
}

TEST(TransportReason, OfDiallingIsWhatTheSystemSaid) {
  EXPECT_EQ(TransportReason(WhatGrpcSays("dns:///127.0.0.1:1")),
            "Connection refused");
  EXPECT_EQ(TransportReason(WhatGrpcSays("unix:/nowhere/at/all")),
            "No such file or directory");
}

TEST(TransportReason, OfAServerOfAnotherProtocolIsThatItIsOne) {
  const struct {
    const char* grpc;
    const char* says;
  } cases[] = {
      {"UNKNOWN: ipv4:127.0.0.1:9: Cannot check peer: missing selected ALPN "
       "property.",
       "--http"},
      {"INTERNAL: ipv4:127.0.0.1:9: Trying to connect an http1.x server",
       "--http"},
      {"UNAVAILABLE: ipv4:127.0.0.1:9: Failed parsing HTTP/2",
       "no coordinator"},
      {"UNKNOWN: ipv4:127.0.0.1:9: Ssl handshake failed: SSL_ERROR_SSL: "
       "error:0A00010B:SSL routines::wrong version number",
       "speaks no TLS"},
      {"UNKNOWN: ipv4:127.0.0.1:9: Ssl handshake failed: SSL_ERROR_SSL: "
       "error:0A000086:SSL routines::certificate verify failed",
       "--tls-ca"},
      {"UNKNOWN: ipv4:127.0.0.1:9: Ssl handshake failed: SSL_ERROR_SSL: "
       "error:0A000410:SSL routines::sslv3 alert handshake failure",
       "handshake failed: sslv3 alert"},
      {"UNAVAILABLE: ipv4:127.0.0.1:9: Socket closed", "was closed"},
  };
  for (const auto& one : cases) {
    EXPECT_THAT(
        TransportReason(
            std::string("failed to connect to all addresses; last error: ") +
            one.grpc),
        AllOf(HasSubstr(one.says), Not(HasSubstr("ipv4:")),
              Not(HasSubstr("error:"))));
  }
}

TEST(TransportReason, OfANameThatNobodyHasSaysSo) {
  EXPECT_EQ(TransportReason(
                "DNS resolution failed for nosuch.example.invalid:70: C-ares "
                "status is not ARES_SUCCESS qtype=A "
                "name=nosuch.example.invalid is_balancer=0: Domain name not "
                "found"),
            "no such host");
}

TEST(TransportReason, WhatItDoesNotKnowStaysAsItIs) {
  for (const char* text : {"", "no room: try later", ": ", "error:"}) {
    EXPECT_EQ(TransportReason(text), text);
  }
}

}  // namespace
}  // namespace leadline::tls
