#include "tls/diagnosis.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "tests/support/store_world.h"
#include "tests/support/test_authority.h"
#include "tls/channel.h"
#include "tls/server.h"

namespace leadline::tls {
namespace {

using testing::HasSubstr;

/// Answers nothing; it only shakes hands.
class Listening {
 public:
  explicit Listening(
      const std::shared_ptr<grpc::ServerCredentials>& credentials) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", credentials, &port_);
    builder.RegisterCallbackGenericService(&service_);
    server_ = builder.BuildAndStart();
  }
  ~Listening() { server_->Shutdown(std::chrono::system_clock::now()); }

  std::string address(const std::string& host = "127.0.0.1") const {
    return host + ":" + std::to_string(port_);
  }

 private:
  int port_ = 0;
  grpc::CallbackGenericService service_;
  std::unique_ptr<grpc::Server> server_;
};

class DiagnosisTest : public ::testing::Test {
 protected:
  Listening Serve(const test::CertificateFiles& files,
                  const std::string& client_ca = "") {
    auto credentials =
        ServerCredentials({files.certificate, files.key, client_ca});
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    return Listening(*credentials);
  }

  /// True if gRPC gets through, which the diagnosis must agree with.
  static bool Connects(const std::string& address, const ClientFiles& files) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = Dial({address, address, files, ""}, arguments);
    return channel.ok() &&
           (*channel)->WaitForConnected(std::chrono::system_clock::now() +
                                        std::chrono::milliseconds(700));
  }

  static std::string Why(const std::string& address, const ClientFiles& files) {
    const absl::Status status =
        DiagnoseHandshake(address, files, std::chrono::seconds(5));
    EXPECT_TRUE(status.ok() || absl::IsUnauthenticated(status)) << status;
    return std::string(status.message());
  }

  test::TemporaryFolder folder_;
  test::TestAuthority authority_{folder_.path(), "authority"};
  test::TestAuthority other_{folder_.path(), "other_authority"};
  ClientFiles trusting_{authority_.file(), "", ""};
};

TEST_F(DiagnosisTest, NothingIsSaidWhereNothingIsWrong) {
  const Listening server = Serve(authority_.Make("server"));
  EXPECT_TRUE(Connects(server.address(), trusting_));
  EXPECT_EQ(Why(server.address(), trusting_), "");
  EXPECT_EQ(Why(server.address("localhost"), trusting_), "");
  EXPECT_EQ(Why("unix:/nowhere", trusting_), "");
  EXPECT_EQ(Why("127.0.0.1:1", trusting_), "");
}

TEST_F(DiagnosisTest, AnotherHostsCertificateIsNamedWithItsHosts) {
  const Listening server =
      Serve(authority_.Make("server", {.hosts = {"DNS:a.example"}}));
  EXPECT_FALSE(Connects(server.address(), trusting_));
  EXPECT_THAT(Why(server.address(), trusting_),
              HasSubstr("is not for 127.0.0.1, but for a.example"));
}

TEST_F(DiagnosisTest, AnUnknownAuthorityIsToldFromABadCertificate) {
  const Listening server = Serve(other_.Make("server"));
  EXPECT_THAT(Why(server.address(), trusting_), HasSubstr("--tls-ca"));
}

TEST_F(DiagnosisTest, ACertificateThatEndedSinceIsNamedWithItsDay) {
  // Valid when the server starts.
  const auto files = authority_.Make("server", {.until_s = 1});
  const Listening server = Serve(files);
  while (DiagnoseHandshake(server.address(), trusting_, std::chrono::seconds(5))
             .ok()) {
  }
  EXPECT_THAT(Why(server.address(), trusting_), HasSubstr("expired on 2"));
  EXPECT_FALSE(Connects(server.address(), trusting_));
}

TEST_F(DiagnosisTest, AServerThatAsksForACertificateSaysSo) {
  const Listening server = Serve(authority_.Make("server"), authority_.file());
  EXPECT_THAT(Why(server.address(), trusting_), HasSubstr("--tls-cert"));
  const auto mine = authority_.Make("client");
  EXPECT_EQ(
      Why(server.address(), {authority_.file(), mine.certificate, mine.key}),
      "");
  EXPECT_TRUE(Connects(server.address(),
                       {authority_.file(), mine.certificate, mine.key}));
  const auto foreign = other_.Make("foreign");
  EXPECT_THAT(Why(server.address(),
                  {authority_.file(), foreign.certificate, foreign.key}),
              HasSubstr("does not accept the certificate"));
}

TEST_F(DiagnosisTest, PlainAndEncryptedEndsAreToldApart) {
  const Listening plain(grpc::InsecureServerCredentials());
  EXPECT_THAT(Why(plain.address(), trusting_), HasSubstr("speaks no TLS"));
  const Listening encrypted = Serve(authority_.Make("server"));
  EXPECT_THAT(Why(encrypted.address(), {}), HasSubstr("speaks TLS"));
  EXPECT_EQ(Why(plain.address(), {}), "");
}

TEST_F(DiagnosisTest, ATokenThatNoHeaderCanCarryIsRefused) {
  for (const char* token : {"a b", "a\nb", "\xc3\xa4"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        Dial({"127.0.0.1:1", "127.0.0.1:1", {}, token}, {}).status()));
  }
}

}  // namespace
}  // namespace leadline::tls
