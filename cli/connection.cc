#include "cli/connection.h"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/dial.h"
#include "cli/exit_code.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

constexpr std::chrono::seconds kAttachTime{10};
constexpr std::chrono::seconds kAnswerTime{30};
constexpr int kTries = 3;
constexpr std::chrono::milliseconds kBetweenTries{200};

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(
    const std::string& address, const v1::AttachRequest& request) {
  auto connection = std::unique_ptr<Connection>(new Connection);
  connection->address_ = address;
  auto dialled = Dial(address);
  if (!dialled.ok()) return dialled.status();
  connection->channel_ = std::move(dialled->channel);
  connection->folder_ = std::move(dialled->folder);
  connection->sweeps_ = v1::SweepService::NewStub(connection->channel_);
  connection->results_ = v1::ResultsService::NewStub(connection->channel_);
  connection->nodes_ = v1::NodeService::NewStub(connection->channel_);
  connection->attach_ = std::make_unique<Stream<v1::AttachReply>>(
      [&](grpc::ClientContext* context, auto* reactor) {
        connection->sweeps_->async()->Attach(context, &request, reactor);
      });
  const auto deadline = std::chrono::steady_clock::now() + kAttachTime;
  switch (connection->attach_->Next(&connection->reply_, deadline)) {
    case StreamEvent::kMessage:
      return connection;
    case StreamEvent::kTimeout:
      return FromGrpc({grpc::StatusCode::DEADLINE_EXCEEDED, ""}, address);
    case StreamEvent::kEnd:
      break;
  }
  const grpc::Status& status = connection->attach_->status();
  // A server that shuts down cancels what has just come in.
  const bool is_ending =
      status.ok() || status.error_code() == grpc::StatusCode::CANCELLED;
  if (is_ending) {
    return FromGrpc({grpc::StatusCode::UNAVAILABLE, "it is ending"}, address);
  }
  return WithReason(FromGrpc(status, address), address);
}

grpc::Status Connection::Sign() {
  v1::ListSweepsRequest request;
  request.set_limit(1);
  v1::ListSweepsReply reply;
  return Repeat([&](grpc::ClientContext* context) {
    return results_->ListSweeps(context, request, &reply);
  });
}

absl::Status Connection::Failure(const grpc::Status& status,
                                 std::string_view file) {
  if (!IsBrokenOff(status)) return FromGrpc(status, address_, file);
  const grpc::Status sign = Sign();
  if (!sign.ok() && !IsBrokenOff(sign)) return FromGrpc(sign, address_);
  return At(WithError(absl::UnavailableError(fmt::format(
                          "the coordinator at {} broke off the call; the same "
                          "command may be given again",
                          address_)),
                      ErrorCode::kUnreachable),
            address_);
}

grpc::Status Connection::Repeat(
    const std::function<grpc::Status(grpc::ClientContext*)>& call) {
  for (int tries = 1;; ++tries) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kAnswerTime);
    grpc::Status status = call(&context);
    // After a silence once more: who asks again may be told what the first
    // one still waits for.
    const bool was_silent =
        tries == 1 &&
        status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    if ((status.error_code() != grpc::StatusCode::UNAVAILABLE && !was_silent) ||
        tries == kTries) {
      return status;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace leadline::cli
