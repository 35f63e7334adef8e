// The whole coordinator, assembled: store, control, server and, where it is
// private, its local agent.

#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>

#include "common/log.h"
#include "coordinator/access/door.h"
#include "coordinator/config.h"
#include "coordinator/control_loop.h"
#include "coordinator/control_watch.h"
#include "coordinator/health.h"
#include "coordinator/http/server.h"
#include "coordinator/local_agent.h"
#include "coordinator/metrics/counters.h"
#include "coordinator/metrics/exposition.h"
#include "coordinator/metrics/measured_store.h"
#include "coordinator/rpc/access_service.h"
#include "coordinator/rpc/agent_sessions.h"
#include "coordinator/rpc/attachments.h"
#include "coordinator/rpc/background.h"
#include "coordinator/rpc/effects.h"
#include "coordinator/rpc/local_logs.h"
#include "coordinator/rpc/node_service.h"
#include "coordinator/rpc/results_service.h"
#include "coordinator/rpc/server.h"
#include "coordinator/rpc/sweep_service.h"
#include "coordinator/rpc/watchers.h"
#include "coordinator/rpc/worker_service.h"
#include "storage/open.h"

namespace leadline {

struct CoordinatorOptions {
  Config config;
  std::string version;
  std::string commit = "unknown";
  std::filesystem::path database;
  std::filesystem::path agent;  // the program; of a private one
  /// Random, and kept to itself: the secrets of attempts of several ranks are
  /// made of it.
  std::string gang_key;
  /// How long a private one waits for its first client.
  std::chrono::milliseconds first_client{20'000};
  /// How long from the moment the program that started it has gone.
  std::chrono::milliseconds after_starter{3'000};
};

class Coordinator {
 public:
  /// Serves when it returns. `store` and `log` must outlive it.
  static absl::StatusOr<std::unique_ptr<Coordinator>> Start(
      CoordinatorOptions options, storage::StorePair& store, Log& log);

  /// Stops.
  ~Coordinator();

  const rpc::ListenAddress& address() const { return server_->address(); }

  /// Where HTTP is served: "127.0.0.1:9464". Null: nowhere.
  std::optional<std::string> http_address() const;

  access::Door& door() { return *door_; }

  /// The program that started a private one has gone: unless a client comes
  /// soon, none will.
  void StarterHasGone();

  /// Waits until a private one has nobody left to serve, or until `time` has
  /// passed; true in the first case.
  bool WaitUntilUnused(std::chrono::milliseconds time);

  /// Ends streams, server and local agent within some seconds. Attempts stay
  /// live in the store. The second call does nothing.
  void Stop();

 private:
  Coordinator(CoordinatorOptions options, storage::StorePair& store, Log& log);

  absl::Status Begin();
  absl::Status ServeHttp();
  void OnDemand(const rpc::Demand& demand);

  const CoordinatorOptions options_;
  storage::StorePair& store_;
  Log& log_;
  bool stopped_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  rpc::Demand demand_ ABSL_GUARDED_BY(mutex_);
  bool was_used_ ABSL_GUARDED_BY(mutex_) = false;
  std::chrono::steady_clock::time_point first_client_until_ ABSL_GUARDED_BY(
      mutex_) = std::chrono::steady_clock::now() + options_.first_client;

  Health health_;
  metrics::Counters counters_;
  metrics::MeasuredStore measured_store_;
  metrics::Exposition exposition_;
  ControlWatch watch_{health_, counters_, exposition_};
  std::unique_ptr<access::Door> door_;
  rpc::AgentSessions sessions_;
  rpc::Watchers watchers_;
  rpc::Effects effects_{sessions_, watchers_};
  std::unique_ptr<ControlLoop> loop_;
  std::optional<LocalAgent> agent_;
  std::optional<rpc::Background> background_;
  std::optional<rpc::LocalLogs> logs_;
  std::optional<rpc::Attachments> attachments_;
  std::optional<rpc::AccessService> access_;
  std::optional<rpc::SweepService> sweeps_;
  std::optional<rpc::ResultsService> results_;
  std::optional<rpc::NodeService> nodes_;
  std::optional<rpc::WorkerService> workers_;
  std::unique_ptr<rpc::Server> server_;
  std::unique_ptr<http::Server> http_;
};

}  // namespace leadline
