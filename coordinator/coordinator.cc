#include "coordinator/coordinator.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <absl/status/status.h>
#include <unistd.h>

#include "coordinator/pages.h"
#include "coordinator/rpc/call_meter.h"

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
  control::CommitCycleOptions loop_options;
  loop_options.policy = options_.config.policy;
  loop_options.observer = &watch_;
  loop_options.work_wanted = !options_.config.is_private;
  auto loop = ControlLoop::Start(std::move(loop_options), measured_store_,
                                 effects_, log_);
  if (!loop.ok()) return loop.status();
  loop_ = *std::move(loop);
  sessions_.Connect(*loop_);
  background_.emplace(kBackgroundThreads);
  attachments_.emplace(Greeting(options_),
                       [this](const rpc::Demand& demand) { OnDemand(demand); });
  sweeps_.emplace(rpc::SweepServiceParts{*loop_, *store_.reader, *background_,
                                         *attachments_, watchers_});
  logs_.emplace(options_.config.state, *background_, sessions_);
  results_.emplace(rpc::ResultsServiceParts{
      *store_.reader, *background_, *logs_, options_.database.string()});
  workers_.emplace(sessions_);
  rpc::Interceptors interceptors;
  interceptors.push_back(rpc::MakeCallMeter(
      [this](std::string_view method, std::string_view code, double seconds) {
        counters_.ObserveCall(method, code, seconds);
      }));
  auto server = rpc::Server::Start(options_.config.address,
                                   {&*sweeps_, &*results_, &*workers_},
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
  auto server = http::Server::Start(
      std::move(options), http::Routes(MakePages({health_, exposition_})));
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
