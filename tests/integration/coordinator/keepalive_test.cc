// Idle streams: both ends ping, at a rate that both take.

#include <chrono>
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
                              {&service}, server_side);
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

Keepalive SpedUp(int by) {
  const Keepalive usual;
  return {usual.ping_after / by, usual.answer_within, usual.least_between / by};
}

TEST(KeepaliveTest, DefaultsArePingsTheOtherEndTakes) {
  const Keepalive usual;
  EXPECT_GE(usual.ping_after, 2 * usual.least_between);
  EXPECT_GT(usual.answer_within.count(), 0);
}

// Half an hour of idling at the usual rate, by pings.
TEST(KeepaliveTest, IdleStreamStandsThroughManyPings) {
  const grpc::Status status =
      Idle(SpedUp(1000), SpedUp(1000), milliseconds(1800));
  EXPECT_TRUE(status.ok()) << status.error_message();
}

// What the shared header guards against, so the test above would see it.
TEST(KeepaliveTest, EndsWithHabitsOfTheirOwnLoseTheStream) {
  Keepalive hasty = SpedUp(1000);
  EXPECT_FALSE(Idle(Keepalive{}, hasty, milliseconds(3000)).ok());
}

}  // namespace
}  // namespace leadline::rpc
