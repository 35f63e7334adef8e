// A results service over a store in memory, called through a channel inside the
// process.

#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coordinator/rpc/results_service.h"
#include "proto/channel_settings.h"
#include "tests/support/store_world.h"

namespace leadline::rpc {

/// Answers at once from a text.
class FakeLogs final : public LogSource {
 public:
  void ReadLog(const std::string& node, const LogQuery& query,
               Found found) override {
    {
      const std::lock_guard lock(mutex_);
      ++asked_;
      last_node_ = node;
      last_ = query;
    }
    if (!error.ok()) return found(error);
    LogPiece piece;
    piece.data = text.substr(static_cast<size_t>(query.offset),
                             static_cast<size_t>(query.limit));
    piece.at_end = query.offset + std::ssize(piece.data) >= std::ssize(text);
    piece.size = std::ssize(text);
    found(std::move(piece));
  }

  int asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::string last_node() {
    const std::lock_guard lock(mutex_);
    return last_node_;
  }
  LogQuery last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

  std::string text;
  absl::Status error;

 private:
  std::mutex mutex_;
  int asked_ = 0;
  std::string last_node_;
  LogQuery last_;
};

class ResultsServiceTest : public ::testing::Test {
 protected:
  ResultsServiceTest()
      : pair_(storage::MakeMemoryStore()),
        service_({*pair_.reader, background_, logs_, "/state/leadline.db"}) {
    grpc::ServerBuilder builder;
    Configure(builder);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    stub_ = v1::ResultsService::NewStub(server_->InProcessChannel({}));
  }
  ~ResultsServiceTest() override { server_->Shutdown(); }

  /// s1: two cells of two seeds; the first cell has run to its end.
  void FinishFirstCell() {
    ASSERT_TRUE(test::CommitOne(store(), test::MakeSweep(1, 2, 2)).ok());
    const std::vector<TrialId> trials = {test::Trial(1, 1, 0),
                                         test::Trial(1, 1, 1)};
    const AttemptKey attempt = test::Attempt(1, 1, 1);
    ASSERT_TRUE(test::Run(store(), attempt, trials).ok());
    ASSERT_TRUE(test::Succeed(store(), trials[0], attempt, 1.0).ok());
    ASSERT_TRUE(test::Succeed(store(), trials[1], attempt, 2.0).ok());
  }

  storage::Store& store() { return *pair_.store; }

  grpc::Status Results(const v1::ResultsRequest& request,
                       std::vector<v1::ResultsPart>& parts) {
    grpc::ClientContext context;
    const auto stream = stub_->Results(&context, request);
    v1::ResultsPart part;
    while (stream->Read(&part)) parts.push_back(part);
    return stream->Finish();
  }

  grpc::Status ReadLog(const v1::LogRequest& request,
                       std::vector<v1::LogChunk>& chunks) {
    grpc::ClientContext context;
    const auto stream = stub_->ReadLog(&context, request);
    v1::LogChunk chunk;
    while (stream->Read(&chunk)) chunks.push_back(chunk);
    return stream->Finish();
  }

  storage::StorePair pair_;
  FakeLogs logs_;
  Background background_{2};
  ResultsService service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::ResultsService::Stub> stub_;
};

}  // namespace leadline::rpc
