// Idle streams: both ends ping, at a rate that both take.

#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "coordinator/rpc/server.h"
#include "leadline/v1/sweep_service.grpc.pb.h"
#include "proto/channel_settings.h"

namespace leadline::rpc {
namespace {

using std::chrono::milliseconds;

/// Says one thing on a stream, and then nothing until the client has gone.
class IdleService final : public v1::SweepService::Service {
  grpc::Status Watch(grpc::ServerContext* context, const v1::WatchRequest*,
                     grpc::ServerWriter<v1::Progress>* writer) override {
    writer->Write(v1::Progress());
    // The synchronous interface tells of the end only who asks.
    while (!context->IsCancelled())
      std::this_thread::sleep_for(milliseconds(5));
    return grpc::Status::OK;
  }
};

/// What became of a stream that was idle for `time`: OK if it stood.
grpc::Status Idle(const Keepalive& server_side, const Keepalive& client_side,
                  milliseconds time) {
  IdleService service;
  auto server = Server::Start({{*ParseListenAddress("127.0.0.1:0"), nullptr}},
                              {&service}, {}, server_side);
  EXPECT_TRUE(server.ok()) << server.status();
  const auto stub = v1::SweepService::NewStub(grpc::CreateCustomChannel(
      (*server)->address().ToText(), grpc::InsecureChannelCredentials(),
      ClientArguments(client_side)));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + time);
  const auto stream = stub->Watch(&context, {});
  v1::Progress progress;
  EXPECT_TRUE(stream->Read(&progress));
  EXPECT_FALSE(stream->Read(&progress));
  const grpc::Status status = stream->Finish();
  (*server)->Stop(milliseconds(100));
  return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
             ? grpc::Status::OK
             : status;
}

/// gRPC itself puts a second between pings, however short it is told to wait.
constexpr int kFaster = 20;

Keepalive SpedUp() {
  const Keepalive usual;
  return {usual.ping_after / kFaster, usual.answer_within,
          usual.least_between / kFaster};
}

TEST(KeepaliveTest, DefaultsArePingsTheOtherEndTakes) {
  const Keepalive usual;
  EXPECT_GE(usual.ping_after, 2 * usual.least_between);
  EXPECT_GT(usual.answer_within.count(), 0);
}

// The third ping that a server does not take ends the connection: the second
// stream shows that the first would fall too if the two ends did not agree.
TEST(KeepaliveTest, IdleStreamStandsThroughPingsThatBothEndsAgreeOn) {
  constexpr milliseconds kIdle{5500};
  auto agreed = std::async(std::launch::async,
                           [&] { return Idle(SpedUp(), SpedUp(), kIdle); });
  auto hasty = std::async(std::launch::async,
                          [&] { return Idle(Keepalive{}, SpedUp(), kIdle); });
  const grpc::Status status = agreed.get();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(hasty.get().error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace leadline::rpc
