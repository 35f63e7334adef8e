#include "cli/connection.h"

#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>

namespace leadline::cli {
namespace {

constexpr std::chrono::seconds kAttachTime{10};
constexpr std::chrono::seconds kAnswerTime{30};
constexpr int kTries = 3;
constexpr std::chrono::milliseconds kBetweenTries{200};

// A socket's path has 107 bytes at most, a folder's has no such limit: the
// folder is opened, and the socket named through its descriptor.
absl::StatusOr<std::string> Target(const std::string& address,
                                   Descriptor* folder) {
  if (!address.starts_with("unix:")) return address;
  const std::filesystem::path path = address.substr(5);
  const auto parent = path.has_parent_path() ? path.parent_path() : ".";
  *folder = Descriptor(open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder->is_open()) {
    return FromGrpc({grpc::StatusCode::UNAVAILABLE, "no such folder"}, address);
  }
  return fmt::format("unix:/proc/self/fd/{}/{}", folder->number(),
                     path.filename().string());
}

std::shared_ptr<grpc::Channel> Channel(const std::string& target) {
  grpc::ChannelArguments arguments;
  // Each try dials anew, without the waiting time an earlier one earned.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(),
                                   arguments);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Open(
    const std::string& address, const v1::AttachRequest& request) {
  auto connection = std::unique_ptr<Connection>(new Connection);
  connection->address_ = address;
  auto target = Target(address, &connection->folder_);
  if (!target.ok()) return target.status();
  connection->channel_ = Channel(*target);
  connection->sweeps_ = v1::SweepService::NewStub(connection->channel_);
  connection->results_ = v1::ResultsService::NewStub(connection->channel_);
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
  return FromGrpc(
      is_ending ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "it is ending")
                : status,
      address);
}

grpc::Status Connection::Repeat(
    const std::function<grpc::Status(grpc::ClientContext*)>& call) {
  for (int tries = 1;; ++tries) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kAnswerTime);
    grpc::Status status = call(&context);
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE ||
        tries == kTries) {
      return status;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace leadline::cli
