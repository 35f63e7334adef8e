// A line to one coordinator, held open while a command runs.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>
#include <grpcpp/grpcpp.h>

#include "cli/descriptor.h"
#include "cli/stream.h"
#include "cli/wire_status.h"
#include "leadline/v1/node_service.grpc.pb.h"
#include "leadline/v1/results_service.grpc.pb.h"
#include "leadline/v1/sweep_service.grpc.pb.h"

namespace leadline::cli {

/// Holds an Attach stream: a private coordinator lives as long as one does.
/// Owned by one thread.
class Connection {
 public:
  /// `address` is "host:port" or "unix:PATH", of any length. Unavailable unless
  /// the coordinator answers within ten seconds.
  static absl::StatusOr<std::unique_ptr<Connection>> Open(
      const std::string& address, const v1::AttachRequest& request);

  v1::SweepService::Stub& sweeps() { return *sweeps_; }
  v1::ResultsService::Stub& results() { return *results_; }
  v1::NodeService::Stub& nodes() { return *nodes_; }

  /// What the coordinator said of itself.
  const v1::AttachReply& coordinator() const { return reply_; }

  /// Its address, for messages.
  const std::string& address() const { return address_; }

  /// Ends the Attach stream: a private coordinator may end now.
  void Detach() { attach_.reset(); }

  /// Why a call failed. What the coordinator broke off without a word, it is
  /// asked about: a token may have ended meanwhile.
  absl::Status Failure(const grpc::Status& status, std::string_view file = "");

  /// One call with a deadline, made again while the coordinator is out of
  /// reach, three times at most: `call` must be one that may be repeated.
  template <class Reply>
  absl::StatusOr<Reply> Ask(
      const std::function<grpc::Status(grpc::ClientContext*, Reply*)>& call,
      std::string_view file = "") {
    Reply reply;
    const grpc::Status status = Repeat(
        [&](grpc::ClientContext* context) { return call(context, &reply); });
    if (!status.ok()) return Failure(status, file);
    return reply;
  }

  /// A stream read to its end or until it has been silent for a minute. `take`
  /// gets each message; an error of its own ends the stream.
  template <class Message>
  absl::Status ReadAll(
      const std::function<void(grpc::ClientContext*,
                               grpc::ClientReadReactor<Message>*)>& start,
      const std::function<absl::Status(const Message&)>& take,
      std::string_view file = "") {
    Stream<Message> stream(start);
    Message message;
    while (true) {
      const auto deadline = Stream<Message>::Clock::now() + kSilence;
      switch (stream.Next(&message, deadline)) {
        case StreamEvent::kMessage:
          if (absl::Status status = take(message); !status.ok()) return status;
          break;
        case StreamEvent::kTimeout:
          return FromGrpc({grpc::StatusCode::DEADLINE_EXCEEDED, ""}, address_);
        case StreamEvent::kEnd:
          return Failure(stream.status(), file);
      }
    }
  }

 private:
  static constexpr std::chrono::seconds kSilence{60};

  Connection() = default;
  /// Asks something small: OK if the coordinator answers and lets us in.
  grpc::Status Sign();
  grpc::Status Repeat(
      const std::function<grpc::Status(grpc::ClientContext*)>& call);

  std::string address_;
  Descriptor folder_;  // of a socket, which is dialled through it
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::SweepService::Stub> sweeps_;
  std::unique_ptr<v1::ResultsService::Stub> results_;
  std::unique_ptr<v1::NodeService::Stub> nodes_;
  std::unique_ptr<Stream<v1::AttachReply>> attach_;
  v1::AttachReply reply_;
};

}  // namespace leadline::cli
