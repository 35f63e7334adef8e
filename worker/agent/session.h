// The stream between this agent and its coordinator: dialled, kept, and dialled
// again when it breaks.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <grpcpp/grpcpp.h>

#include "leadline/v1/worker_service.grpc.pb.h"
#include "proto/channel_settings.h"
#include "tls/client.h"
#include "tls/token.h"
#include "worker/agent/agent_link.h"
#include "worker/agent/backoff.h"

namespace leadline::agent {

struct SessionOptions {
  std::string coordinator;  // HOST:PORT or unix:PATH
  tls::ClientFiles tls;     // read anew for every stream, as the token is
  tls::TokenSource token;   // not shown to a socket
  std::chrono::milliseconds connect_timeout{5000};
  /// After that, for what was met there to be told: the session waits for it.
  std::chrono::milliseconds moment_to_tell{200};
  std::chrono::milliseconds least_wait{100};
  std::chrono::milliseconds most_wait{5000};
  uint64_t seed = 0;  // of the waits
  Keepalive keepalive;
};

/// InvalidArgument if a file that is named there cannot be used.
absl::Status CheckUsable(const SessionOptions& options);

/// One thread reads and dials, one writes. Thread-safe.
class Session final : public AgentLink {
 public:
  /// `sink` is called from the reading thread; it may wait, and must return
  /// once the session is being destroyed.
  Session(SessionOptions options, std::function<void(SessionEvent)> sink);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Send(int64_t stream, v1::AgentMessage message) override;
  bool HasRoom() const override;
  void Break(int64_t stream) override;

  /// Writes what is queued and closes the stream in an orderly way, or breaks
  /// it off at the deadline. No stream is tried afterwards.
  void Finish(std::chrono::steady_clock::time_point deadline);

 private:
  using Stream =
      grpc::ClientReaderWriter<v1::AgentMessage, v1::CoordinatorMessage>;

  void Run(const std::stop_token& stop);
  bool Connect(grpc::Channel& channel);
  absl::Status RunStream();
  absl::Status WhyNotConnected(v1::WorkerService::Stub& stub) const;
  bool IsFinishing() const;
  void Write(Stream& stream);
  bool Wait(std::chrono::milliseconds time);

  const SessionOptions options_;
  const std::function<void(SessionEvent)> sink_;
  Backoff backoff_;  // of the reading thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int64_t stream_ ABSL_GUARDED_BY(mutex_) = 0;  // number of the latest stream
  grpc::ClientContext* context_ ABSL_GUARDED_BY(mutex_) =
      nullptr;  // of the stream that stands
  std::deque<v1::AgentMessage> queue_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) =
      false;  // a stream stands, its writer takes messages
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) =
      false;  // the reading thread has returned

  std::jthread reader_;  // last: it uses all above
};

}  // namespace leadline::agent
