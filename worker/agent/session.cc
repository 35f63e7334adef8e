#include "worker/agent/session.h"

#include <memory>
#include <utility>

#include "errors/error_code.h"
#include "tls/channel.h"
#include "tls/diagnosis.h"
#include "tls/transport_reason.h"
#include "worker/agent/coordinator_address.h"
#include "worker/agent/rank_address.h"

namespace leadline::agent {
namespace {

constexpr size_t kMuch = 64;  // messages

constexpr std::chrono::milliseconds kDiagnosisTime{3000};

absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(
    const SessionOptions& options, const std::string& target) {
  tls::DialOptions dial{options.coordinator, target, options.tls, ""};
  if (!options.coordinator.starts_with("unix:")) {
    auto token = tls::ReadToken(options.token);
    if (!token.ok()) return token.status();
    dial.token = *std::move(token);
  }
  return tls::Dial(dial, ClientArguments(options.keepalive));
}

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::CANCELLED) {
    return absl::UnavailableError("the coordinator broke the connection off");
  }
  const bool is_gone = status.error_code() == grpc::StatusCode::UNAVAILABLE;
  const absl::Status error(static_cast<absl::StatusCode>(status.error_code()),
                           is_gone
                               ? tls::TransportReason(status.error_message())
                               : status.error_message());
  v1::Problems details;
  if (!details.ParseFromString(status.error_details())) return error;
  const auto noted = ReadErrorCode(details.code());
  return noted ? WithError(error, *noted) : error;
}

/// What a channel met that did not come to stand: a call that does not wait for
/// it is told.
std::string WhatWasMet(v1::WorkerService::Stub& stub,
                       std::chrono::milliseconds within) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + within);
  const grpc::Status status = stub.Session(&context)->Finish();
  return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
             ? "no answer: is a firewall between?"
             : std::string(FromGrpc(status).message());
}

}  // namespace

absl::Status CheckUsable(const SessionOptions& options) {
  return MakeChannel(options, "dns:///127.0.0.1:1").status();
}

Session::Session(SessionOptions options, std::function<void(SessionEvent)> sink)
    : options_(std::move(options)),
      sink_(std::move(sink)),
      backoff_(options_.least_wait, options_.most_wait, options_.seed),
      reader_([this](const std::stop_token& stop) { Run(stop); }) {}

Session::~Session() { Finish(std::chrono::steady_clock::now()); }

void Session::Send(int64_t stream, v1::AgentMessage message) {
  const std::scoped_lock lock(mutex_);
  if (stream != stream_ || !writing_) return;
  queue_.push_back(std::move(message));
  changed_.notify_all();
}

bool Session::HasRoom() const {
  const std::scoped_lock lock(mutex_);
  return queue_.size() < kMuch;
}

void Session::Break(int64_t stream) {
  const std::scoped_lock lock(mutex_);
  if (stream == stream_ && context_ != nullptr) context_->TryCancel();
}

void Session::Finish(std::chrono::steady_clock::time_point deadline) {
  reader_.request_stop();
  std::unique_lock lock(mutex_);
  finishing_ = true;
  changed_.notify_all();
  changed_.wait_until(lock, deadline, [&] { return ended_; });
  if (context_ != nullptr) context_->TryCancel();
}

void Session::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const absl::Status status = RunStream();
    int64_t number = 0;
    {
      const std::scoped_lock lock(mutex_);
      number = stream_;
    }
    sink_({number, StreamClosed{status}});
    if (!Wait(backoff_.Next())) break;
  }
  const std::scoped_lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool Session::Wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [&] { return finishing_; });
}

bool Session::Connect(grpc::Channel& channel) {
  const auto deadline =
      std::chrono::steady_clock::now() + options_.connect_timeout;
  // In short waits, so that ending the session need not sit through a long one.
  while (std::chrono::steady_clock::now() < deadline) {
    if (channel.WaitForConnected(std::chrono::system_clock::now() +
                                 std::chrono::milliseconds(100))) {
      return true;
    }
    if (IsFinishing()) return false;
  }
  return false;
}

bool Session::IsFinishing() const {
  const std::scoped_lock lock(mutex_);
  return finishing_;
}

absl::Status Session::WhyNotConnected(v1::WorkerService::Stub& stub) const {
  if (IsFinishing()) return absl::CancelledError("the agent is ending");
  const absl::Status why = tls::DiagnoseHandshake(options_.coordinator,
                                                  options_.tls, kDiagnosisTime);
  if (!why.ok()) {
    return absl::Status(why.code(), "no safe connection to " +
                                        options_.coordinator + ": " +
                                        std::string(why.message()));
  }
  return absl::UnavailableError(
      "no coordinator answers at " + options_.coordinator + " (" +
      WhatWasMet(stub, options_.moment_to_tell) + ")");
}

absl::Status Session::RunStream() {
  absl::StatusOr<DialTarget> dial = MakeDialTarget(options_.coordinator);
  if (!dial.ok()) return dial.status();
  const auto channel = MakeChannel(options_, dial->target);
  if (!channel.ok()) return channel.status();
  const auto stub = v1::WorkerService::NewStub(*channel);
  if (!Connect(**channel)) return WhyNotConnected(*stub);
  grpc::ClientContext context;
  const std::unique_ptr<Stream> stream = stub->Session(&context);
  int64_t number = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (finishing_) context.TryCancel();
    number = ++stream_;
    context_ = &context;
    writing_ = true;
    queue_.clear();
  }
  std::jthread writer([&] { Write(*stream); });
  sink_({number, StreamOpened{AddressTowards(options_.coordinator)}});
  v1::CoordinatorMessage message;
  while (stream->Read(&message)) {
    backoff_.Reset();
    sink_({number, std::move(message)});
    message.Clear();
  }
  {
    const std::scoped_lock lock(mutex_);
    writing_ = false;
    changed_.notify_all();
  }
  // Nothing more is read because the call is over, which ends a write too;
  // cancelling now would hide the server's status.
  writer.join();
  absl::Status status = FromGrpc(stream->Finish());
  const std::scoped_lock lock(mutex_);
  context_ = nullptr;
  return status;
}

void Session::Write(Stream& stream) {
  while (true) {
    v1::AgentMessage message;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock,
                    [&] { return !writing_ || finishing_ || !queue_.empty(); });
      if (!writing_) return;
      if (queue_.empty()) break;
      message = std::move(queue_.front());
      queue_.pop_front();
    }
    if (!stream.Write(message)) return;  // the reading thread sees it too
  }
  stream.WritesDone();
}

}  // namespace leadline::agent
