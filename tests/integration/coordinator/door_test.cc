#include <future>
#include <map>

#include <gmock/gmock.h>

#include "door_world.h"
#include "fake_agent.h"
#include "leadline/v1/access_service.grpc.pb.h"

namespace leadline {
namespace {

using testing::Contains;
using testing::HasSubstr;
using Encrypted = DoorWorld::Encrypted;

constexpr char kListSweeps[] = "/leadline.v1.ResultsService/ListSweeps";

TEST(DoorTest, APublicAddressIsRefusedWithAllThatIsMissing) {
  TemporaryFolder folder;
  NoLog log;
  auto stores = storage::MakeMemoryStore();
  CoordinatorOptions options;
  options.config.state = folder.path();
  options.config.address.host = "0.0.0.0";
  auto refused = Coordinator::Start(options, stores, log);
  EXPECT_TRUE(absl::IsPermissionDenied(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()),
              testing::AllOf(HasSubstr("0.0.0.0:0"), HasSubstr("--tls-cert"),
                             HasSubstr("leadline token create")));
  test::TestAuthority authority(folder.path(), "authority");
  const auto files = authority.Make("server");
  options.config.tls = {files.certificate, files.key, ""};
  const std::string no_token(
      Coordinator::Start(options, stores, log).status().message());
  EXPECT_THAT(no_token, testing::Not(HasSubstr("--tls-cert")));
  EXPECT_THAT(no_token, HasSubstr("leadline token create"));
  storage::TokenRecord token;
  token.role = AccessRole::kAdmin;
  token.hash = Sha256Of("x");
  ASSERT_TRUE(stores.access->AddToken(token).ok());
  EXPECT_TRUE(Coordinator::Start(options, stores, log).ok());
  ASSERT_TRUE(stores.access->RevokeToken(1, {}).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(
      Coordinator::Start(options, stores, log).status()));
}

TEST(DoorTest, MutualTlsTurnsAwayWhoHasNoCertificate) {
  DoorWorld world(Encrypted::kMutual);
  const std::string token = world.Token(AccessRole::kRead);
  EXPECT_EQ(DoorWorld::Call(world.Channel(token), kListSweeps).error_code(),
            grpc::StatusCode::UNAVAILABLE);
  const auto mine = world.authority().Make("client");
  world.files().certificate = mine.certificate;
  world.files().key = mine.key;
  EXPECT_TRUE(DoorWorld::Call(world.Channel(token), kListSweeps).ok());
  EXPECT_EQ(DoorWorld::Call(world.Channel(""), kListSweeps).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST(DoorTest, ARenewedCertificateIsShownWithoutARestart) {
  DoorWorld world(Encrypted::kYes);
  const std::string token = world.Token(AccessRole::kRead);
  const auto before = world.Channel(token);
  EXPECT_TRUE(DoorWorld::Call(before, kListSweeps).ok());
  test::TestAuthority other(world.folder(), "other");
  const auto renewed = other.Make("renewed");
  std::filesystem::rename(renewed.certificate,
                          world.server_files().certificate);
  std::filesystem::rename(renewed.key, world.server_files().key);
  world.files().ca = other.file();
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!DoorWorld::Call(world.Channel(token), kListSweeps).ok()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  }
  // Connections from before go on.
  EXPECT_TRUE(DoorWorld::Call(before, kListSweeps).ok());
}

TEST(DoorTest, ThisMachineNeedsATokenOnceThereIsOneButNotAtTheSocket) {
  DoorWorld world(Encrypted::kNo);
  EXPECT_TRUE(DoorWorld::Call(world.Channel(""), kListSweeps).ok());
  const std::string token = world.Token(AccessRole::kRead);
  EXPECT_EQ(DoorWorld::Call(world.Channel(""), kListSweeps).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(DoorWorld::Call(world.Channel(token), kListSweeps).ok());
  EXPECT_TRUE(DoorWorld::Call(world.Socket(), kListSweeps).ok());
}

TEST(DoorTest, TokensAreMadeByTheSocketAndUsedByTheAddress) {
  DoorWorld world(Encrypted::kYes);
  const auto admin = v1::AccessService::NewStub(world.Socket());
  const std::string secret(64, 'e');
  v1::CreateTokenRequest request;
  request.set_hash(Sha256Of(secret));
  request.set_role("submit");
  request.set_name("ci");
  v1::Token made;
  for (int i = 0; i < 2; ++i) {  // asked twice, one token
    grpc::ClientContext context;
    ASSERT_TRUE(admin->CreateToken(&context, request, &made).ok());
  }
  EXPECT_EQ(made.token(), "t1");
  EXPECT_EQ(made.expires_at(), "");
  EXPECT_TRUE(
      DoorWorld::Call(world.Channel("llt1_" + secret), kListSweeps).ok());
  for (const char* role : {"", "root", "Admin"}) {
    grpc::ClientContext context;
    request.set_role(role);
    EXPECT_EQ(admin->CreateToken(&context, request, &made).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST(DoorTest, WhatChangesSomethingIsInTheAuditBeforeItsAnswer) {
  DoorWorld world(Encrypted::kYes);
  const auto sweeps = v1::SweepService::NewStub(
      world.Channel(world.Token(AccessRole::kSubmit)));
  v1::SubmitRequest request;
  request.set_text(kSmallSweep);
  request.set_file("sweep.yaml");
  request.set_base_folder("/");
  request.set_request_id("r1");
  v1::SubmitReply reply;
  grpc::ClientContext context;
  ASSERT_TRUE(sweeps->Submit(&context, request, &reply).ok());
  const auto rows = *world.store().ListAudit({}, 10);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows[0].who, "t1 submit");
  EXPECT_EQ(rows[0].call, "Submit");
  EXPECT_EQ(rows[0].target, "s1");
  EXPECT_EQ(rows[0].outcome, "OK");
  v1::CancelRequest cancel;
  cancel.set_target("s77");
  cancel.set_request_id("r2");
  v1::CancelReply none;
  grpc::ClientContext again;
  EXPECT_FALSE(sweeps->Cancel(&again, cancel, &none).ok());
  const auto failed = world.store().ListAudit({}, 1)->front();
  EXPECT_EQ(failed.call + " " + failed.target + " " + failed.outcome,
            "Cancel s77 NOT_FOUND");
}

TEST(DoorTest, ARevokedAgentLosesItsSession) {
  DoorWorld world(Encrypted::kYes);
  const std::string token = world.Token(AccessRole::kAgent);
  std::promise<void> welcomed;
  FakeAgent agent(world.Channel(token), RegisterMessage("rack", 1),
                  [&](auto&, const v1::CoordinatorMessage& message) {
                    if (message.has_registered()) welcomed.set_value();
                  });
  welcomed.get_future().get();
  const auto rows = world.store().ListAudit({}, 1).value();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].target, "rack");
  ASSERT_TRUE(world.coordinator().door().Revoke(1).ok());
  EXPECT_FALSE(agent.Finish().ok());
  EXPECT_THAT(world.lines(), Contains("agent_registered node=rack protocol=1"));
  EXPECT_EQ(DoorWorld::Call(world.Channel(token),
                            "/leadline.v1.WorkerService/Session")
                .error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST(DoorTest, ASweepIsOfWhomItsTokenNames) {
  DoorWorld world(Encrypted::kYes);
  const std::string token = world.Token(AccessRole::kSubmit);
  for (const auto& [channel, user] :
       {std::pair(world.Channel(token), "submit"),
        std::pair(world.Socket(), "root of somewhere")}) {
    v1::SubmitRequest request;
    request.set_text(kSmallSweep);
    request.set_file("sweep.yaml");
    request.set_base_folder("/");
    request.set_request_id(user);
    request.set_user("root of somewhere");
    request.set_make_new(true);
    v1::SubmitReply submitted;
    grpc::ClientContext context;
    ASSERT_TRUE(v1::SweepService::NewStub(channel)
                    ->Submit(&context, request, &submitted)
                    .ok());
    v1::ListSweepsRequest list;
    list.set_user(user);
    v1::ListSweepsReply listed;
    grpc::ClientContext again;
    ASSERT_TRUE(v1::ResultsService::NewStub(channel)
                    ->ListSweeps(&again, list, &listed)
                    .ok());
    ASSERT_EQ(listed.sweeps_size(), 1);
    EXPECT_EQ(listed.sweeps(0).sweep(), submitted.sweep());
  }
}

TEST(DoorTest, WhoRevokesItsOwnTokenIsAnswered) {
  DoorWorld world(Encrypted::kYes);
  const auto channel = world.Channel(world.Token(AccessRole::kAdmin));
  v1::RevokeTokenRequest request;
  request.set_token("t1");
  v1::Token reply;
  grpc::ClientContext context;
  const grpc::Status status = v1::AccessService::NewStub(channel)->RevokeToken(
      &context, request, &reply);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_NE(reply.revoked_at(), "");
  EXPECT_EQ(DoorWorld::Call(channel, "/leadline.v1.ResultsService/ListSweeps")
                .error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST(DoorTest, TheLogTellsWhoCameWhoWentAndWhoWasTurnedAway) {
  DoorWorld world(Encrypted::kYes);
  const auto channel = world.Channel(world.Token(AccessRole::kAgent));
  std::promise<void> welcomed;
  FakeAgent agent(channel, RegisterMessage("rack", 1),
                  [&](auto&, const v1::CoordinatorMessage& message) {
                    if (message.has_registered()) welcomed.set_value();
                  });
  welcomed.get_future().get();
  v1::AgentMessage old = RegisterMessage("old", 1);
  old.mutable_register_()->set_protocol_version(99);
  old.mutable_register_()->set_least_protocol_version(99);
  // However many there are, each is told of once.
  for (int tries = 0; tries < 3; ++tries) {
    for (int node = 0; node < 40; ++node) {
      old.mutable_register_()->set_node("old-" + std::to_string(node));
      FakeAgent other(channel, old, [](auto&, const auto&) {});
      EXPECT_FALSE(other.Finish().ok());
    }
  }
  EXPECT_THAT(world.lines(),
              Contains(HasSubstr("agent_dismissed node=old-")).Times(40));
  // How each came out is in the audit, and who was let in beside it.
  std::map<std::string, int> outcomes;
  const auto rows = *world.store().ListAudit({}, 1000);
  for (const auto& row : rows) {
    if (row.call == "Session") ++outcomes[row.outcome];
  }
  EXPECT_THAT(outcomes, testing::UnorderedElementsAre(
                            testing::Pair("OK", 1),
                            testing::Pair("FAILED_PRECONDITION", 120)));
  world.coordinator().Stop();
  EXPECT_FALSE(agent.Finish().ok());
  EXPECT_THAT(world.lines(), Contains("agent_gone node=rack"));
}

TEST(DoorTest, ReadersBeyondTheirStreamsAreRefusedWhileAnAgentComesIn) {
  access::Limits limits;
  limits.streams_of_caller = 2;
  DoorWorld world(Encrypted::kYes, limits);
  const auto channel = world.Channel(world.Token(AccessRole::kRead));
  const auto sweeps = v1::SweepService::NewStub(channel);
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::AttachReply>>> streams;
  v1::AttachReply greeting;
  for (int i = 0; i < 2; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(sweeps->Attach(contexts.back().get(), {}));
    ASSERT_TRUE(streams.back()->Read(&greeting));
  }
  const auto beyond =
      DoorWorld::Call(channel, "/leadline.v1.SweepService/Attach");
  EXPECT_EQ(beyond.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(beyond.error_message(), HasSubstr("too many open streams"));
  std::promise<void> welcomed;
  FakeAgent agent(world.Channel(world.Token(AccessRole::kAgent)),
                  RegisterMessage("rack", 1),
                  [&](auto&, const v1::CoordinatorMessage& message) {
                    if (message.has_registered()) welcomed.set_value();
                  });
  welcomed.get_future().get();
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& stream : streams) stream->Finish();
}

TEST(DoorTest, ARequestThatIsTooLargeIsRefusedInWords) {
  DoorWorld world(Encrypted::kYes);
  const auto sweeps = v1::SweepService::NewStub(
      world.Channel(world.Token(AccessRole::kSubmit)));
  v1::SubmitRequest request;
  request.set_text(std::string(2 << 20, '#'));
  v1::SubmitReply reply;
  grpc::ClientContext context;
  const auto status = sweeps->Submit(&context, request, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("larger than max"));
}

}  // namespace
}  // namespace leadline
