// A coordinator for tests: a real gRPC server that keeps what agents say, and
// forgets, drops and breaks what a test wants.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "leadline/v1/worker_service.grpc.pb.h"

namespace leadline::agent {

/// What agents said, over all streams. Records as a coordinator keeps them:
/// each once, in order.
struct Heard {
  std::vector<v1::Register> registers;
  std::vector<v1::AttemptStarted> started;
  std::vector<v1::AttemptRefused> refused;
  std::vector<v1::AttemptWaiting> waiting;
  std::vector<v1::AttemptEnded> ended;
  std::vector<v1::LogReply> logs;
  std::vector<v1::WeighedSweeps> weighed;
  std::map<std::string, std::vector<v1::TrainerRecord>> records;
  int64_t repeated_records = 0;
  int64_t gaps = 0;  // records that came before their turn
  size_t largest_message = 0;
  int64_t heartbeats = 0;
  int64_t streams_open = 0;
  int64_t streams_refused = 0;
};

/// What it does with what it hears.
struct FakeHabits {
  bool acknowledges = true;
  bool acknowledges_ends = true;
  bool renews = true;
  bool refuses = false;  // every stream, as name_taken
  bool bars = false;     // UNAUTHENTICATED to every stream
  std::vector<v1::Attempt> superseded;
  double heartbeat_seconds = 0.05;
  int32_t protocol = 0;  // it speaks; 0: it says nothing of it
  int32_t least_protocol = 0;
  /// Breaks off with INTERNAL when that record of any attempt comes and can be
  /// read.
  int64_t cannot_store = 0;
};

/// Thread-safe.
class FakeCoordinator final : public v1::WorkerService::Service {
 public:
  /// Listens on `address` ("127.0.0.1:0", "unix:...").
  explicit FakeCoordinator(const std::string& address = "127.0.0.1:0");
  ~FakeCoordinator() override;

  /// HOST:PORT.
  std::string address() const;

  void Change(const std::function<void(FakeHabits&)>& change);

  /// True once `holds` does; false after a minute without.
  bool WaitFor(const std::function<bool(const Heard&)>& holds);
  Heard heard() const;

  /// To the agent whose stream stands; false if there is none.
  bool Send(const v1::CoordinatorMessage& message);

  /// Breaks off all streams.
  void DropStreams();

 private:
  using Stream =
      grpc::ServerReaderWriter<v1::CoordinatorMessage, v1::AgentMessage>;

  grpc::Status Session(grpc::ServerContext* context, Stream* stream) override;
  void Hear(const v1::AgentMessage& message, Stream& stream);
  void HearRegister(const v1::Register& message, Stream& stream);
  void HearRecords(const v1::RecordBatch& batch, Stream& stream);
  bool CanStore(const v1::AgentMessage& message) const;

  mutable std::mutex mutex_;  // guards all below but the server
  std::condition_variable changed_;
  Heard heard_;
  FakeHabits habits_;
  Stream* stream_ = nullptr;
  std::vector<grpc::ServerContext*> contexts_;

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace leadline::agent
