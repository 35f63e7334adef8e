#include "coordinator/coordinator.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <unistd.h>

#include "coordinator/http/tls_context.h"
#include "coordinator/http_gate.h"
#include "coordinator/pages.h"
#include "coordinator/rpc/call_meter.h"
#include "coordinator/rpc/doorkeeper.h"
#include "errors/error_code.h"

namespace leadline {
namespace {

constexpr int kBackgroundThreads = 2;
constexpr std::chrono::milliseconds kCallsMayEnd{500};

v1::AttachReply Greeting(const CoordinatorOptions& options) {
  v1::AttachReply reply;
  reply.set_pid(getpid());
  reply.set_version(options.version);
  reply.set_database(options.database.string());
  reply.set_is_private(options.config.is_private);
  return reply;
}

control::SteadyTime SteadyNow() { return MomentNow().steady; }

/// Why a public address must not be served; OK for others.
absl::Status CheckPublic(const Config& config, const access::Door& door) {
  const bool is_http_public = config.http && config.http->is_public();
  if (!config.address.is_public() && !is_http_public) return absl::OkStatus();
  std::string missing;
  if (!config.tls.any()) {
    missing = "no certificate (give --tls-cert and --tls-key)";
  }
  if (!door.HasValidToken()) {
    missing += (missing.empty() ? "" : ", ") +
               std::string(
                   "no token (make one with `leadline token create "
                   "--role admin --state ") +
               config.state.string() + "`)";
  }
  if (missing.empty()) return absl::OkStatus();
  return WithError(
      absl::PermissionDeniedError(
          "refusing to listen on " +
          (config.address.is_public() ? config.address : *config.http)
              .ToText() +
          ", which others than this machine can reach: there is " + missing +
          "; docs/security.md has the steps"),
      ErrorCode::kMisuse);
}

/// What was asked for and, beside an address, the socket in the state folder:
/// the door of who may read the folder anyway.
absl::StatusOr<std::vector<rpc::Listener>> ListenersOf(const Config& config,
                                                       access::Door& door) {
  std::vector<rpc::Listener> listeners = {{config.address, nullptr}};
  if (!config.address.is_unix) {
    rpc::ListenAddress local;
    local.is_unix = true;
    local.path = (config.state / "coordinator.sock").string();
    listeners.push_back({local, nullptr});
  }
  for (rpc::Listener& listener : listeners) {
    auto credentials = rpc::GuardedCredentials(
        listener.address,
        listener.address.is_unix ? tls::ServerFiles() : config.tls, door);
    if (!credentials.ok()) return credentials.status();
    listener.credentials = *std::move(credentials);
  }
  return listeners;
}

}  // namespace

Coordinator::Coordinator(CoordinatorOptions options, storage::StorePair& store,
                         Log& log)
    : options_(std::move(options)),
      store_(store),
      log_(log),
      counters_({rpc::MethodNames(), PathsOfPages()}),
      measured_store_(*store.store, counters_, SteadyNow),
      exposition_({counters_, *store.reader, options_.version, options_.commit,
                   SteadyNow}) {}

absl::StatusOr<std::unique_ptr<Coordinator>> Coordinator::Start(
    CoordinatorOptions options, storage::StorePair& store, Log& log) {
  std::unique_ptr<Coordinator> coordinator(
      new Coordinator(std::move(options), store, log));
  const absl::Status begun = coordinator->Begin();
  if (!begun.ok()) return begun;
  return coordinator;
}

absl::Status Coordinator::Begin() {
  auto door = access::Door::Open(*store_.access, log_, options_.config.limits);
  if (!door.ok()) return door.status();
  door_ = *std::move(door);
  absl::Status may = CheckPublic(options_.config, *door_);
  if (!may.ok()) return may;
  control::CommitCycleOptions loop_options;
  loop_options.policy = options_.config.policy;
  loop_options.observer = &watch_;
  loop_options.work_wanted = !options_.config.is_private;
  if (options_.config.keep_archived_days > 0) {
    loop_options.keep_archived =
        std::chrono::hours(24 * options_.config.keep_archived_days);
  }
  auto loop = ControlLoop::Start(std::move(loop_options), measured_store_,
                                 effects_, log_);
  if (!loop.ok()) return loop.status();
  loop_ = *std::move(loop);
  background_.emplace(kBackgroundThreads);
  sessions_.Connect(*loop_, options_.gang_key, *store_.reader, *background_,
                    log_);
  attachments_.emplace(Greeting(options_),
                       [this](const rpc::Demand& demand) { OnDemand(demand); });
  sweeps_.emplace(rpc::SweepServiceParts{
      *loop_, *store_.reader, *background_, *attachments_, watchers_, sessions_,
      *door_, options_.config.state, options_.config.is_private});
  logs_.emplace(options_.config.state, *background_, sessions_);
  results_.emplace(rpc::ResultsServiceParts{
      *store_.reader, *background_, *logs_, options_.database.string()});
  nodes_.emplace(*loop_);
  workers_.emplace(sessions_);
  access_.emplace(*door_, *background_);
  const auto listeners = ListenersOf(options_.config, *door_);
  if (!listeners.ok()) return listeners.status();
  rpc::Interceptors interceptors;
  interceptors.push_back(rpc::MakeCallMeter(
      [this](std::string_view method, std::string_view code, double seconds) {
        counters_.ObserveCall(method, code, seconds);
      }));
  interceptors.push_back(rpc::MakeCallRecorder(*door_));
  auto server = rpc::Server::Start(
      *listeners, {&*access_, &*sweeps_, &*results_, &*nodes_, &*workers_},
      std::move(interceptors));
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  if (absl::Status served = ServeHttp(); !served.ok()) return served;
  if (options_.config.is_private) {
    const std::lock_guard lock(mutex_);
    agent_.emplace(
        LocalAgentOptions{options_.agent, options_.config.state,
                          server_->address().ToText(), options_.config.log},
        log_);
    agent_->Want(demand_.wanting_work > 0, demand_.slots);
  }
  return absl::OkStatus();
}

absl::Status Coordinator::ServeHttp() {
  if (!options_.config.http) return absl::OkStatus();
  http::ServerOptions options;
  options.host = options_.config.http->host;
  options.port = static_cast<uint16_t>(options_.config.http->port);
  options.on_answered = [this](const std::string& route, unsigned code) {
    counters_.CountRequest(route, code);
  };
  if (options_.config.tls.any()) {
    auto contexts = http::TlsContexts::Open(options_.config.tls);
    if (!contexts.ok()) return contexts.status();
    options.tls =
        [contexts = std::make_shared<http::TlsContexts>(*std::move(contexts))] {
          return contexts->Current(std::chrono::steady_clock::now());
        };
  }
  const auto entrance =
      options.tls ? access::Entrance::kPublic : access::Entrance::kLoopback;
  auto server = http::Server::Start(
      std::move(options), http::Routes(MakePages({health_, exposition_}),
                                       MakeGate(*door_, entrance)));
  if (!server.ok()) return server.status();
  http_ = *std::move(server);
  return absl::OkStatus();
}

std::optional<std::string> Coordinator::http_address() const {
  if (!http_) return std::nullopt;
  return http_->address();
}

Coordinator::~Coordinator() { Stop(); }

bool Coordinator::WaitUntilUnused(std::chrono::milliseconds time) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time);
    if (!options_.config.is_private || demand_.clients > 0) return false;
    const auto now = std::chrono::steady_clock::now();
    if (!was_used_ && now <= first_client_until_) return false;
  }
  return attachments_->CloseIfUnused(
      absl::UnavailableError("the coordinator is ending"));
}

void Coordinator::StarterHasGone() {
  const std::lock_guard lock(mutex_);
  first_client_until_ =
      std::min(first_client_until_,
               std::chrono::steady_clock::now() + options_.after_starter);
}

void Coordinator::OnDemand(const rpc::Demand& demand) {
  const std::lock_guard lock(mutex_);
  demand_ = demand;
  was_used_ = was_used_ || demand.clients > 0;
  if (options_.config.is_private) {
    const bool wanted = demand.wanting_work > 0;
    loop_->Post(control::ClientsWantWork{wanted}, [](const auto&) {});
    if (agent_) agent_->Want(wanted, demand.slots);
  }
  changed_.notify_all();
}

void Coordinator::Stop() {
  if (std::exchange(stopped_, true)) return;
  const absl::Status ending =
      absl::UnavailableError("the coordinator is ending");
  if (http_) http_->Stop();
  if (server_) {
    background_->RequestStop();
    // Before the agent is told: what it ends now is no failure of a trainer.
    sessions_.CloseAll(ending);
    watchers_.CloseAll(ending);
    attachments_->CloseAll(ending);
    server_->Stop(kCallsMayEnd);
  }
  if (agent_) agent_->Stop();
  // Its answers may still post to the background.
  if (loop_) loop_->Stop();
  background_.reset();
}

}  // namespace leadline
