#include "coordinator/rpc/results_service.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "coordinator/rpc/list_pages.h"
#include "coordinator/rpc/paged_stream.h"
#include "coordinator/rpc/results_pages.h"
#include "coordinator/rpc/status.h"
#include "coordinator/rpc/trial_details.h"

namespace leadline::rpc {
namespace {

constexpr std::array<std::string_view, 3> kLogs = {"stdout", "stderr",
                                                   "events"};

absl::StatusOr<std::string> LogName(const std::string& asked) {
  if (asked.empty()) return "stderr";
  if (std::find(kLogs.begin(), kLogs.end(), asked) != kLogs.end()) return asked;
  return absl::InvalidArgumentError(
      "no such log; choose stdout, stderr or events");
}

absl::StatusOr<storage::AttemptRecord> FindAttempt(
    const storage::StoreReader& reader, const TrialId& trial, int64_t number) {
  const auto row = reader.GetTrial(trial);
  if (!row.ok()) return row.status();
  auto attempts = reader.ListAttempts(row->trial.cohort);
  if (!attempts.ok()) return attempts.status();
  if (attempts->empty()) {
    return absl::NotFoundError("trial " + ToText(trial) +
                               " has no attempt yet: it is " +
                               std::string(Name(row->trial.state)));
  }
  if (number == 0) return std::move(attempts->back());
  for (storage::AttemptRecord& attempt : *attempts) {
    if (attempt.key.number == number) return std::move(attempt);
  }
  return absl::NotFoundError("trial " + ToText(trial) + " has no attempt " +
                             std::to_string(number) + "; its last is " +
                             std::to_string(attempts->back().key.number));
}

/// Where that rank of it runs or ran.
absl::StatusOr<std::string> NodeOf(const storage::AttemptRecord& attempt,
                                   int64_t rank) {
  if (rank == 0 && attempt.ranks.empty()) return attempt.node;
  if (rank >= 0 && rank < std::ssize(attempt.ranks)) {
    return attempt.ranks[static_cast<size_t>(rank)].node;
  }
  return absl::NotFoundError(
      "attempt " + ToText(attempt.key) + " has no rank " +
      std::to_string(rank) + "; it has " +
      std::to_string(std::max<int64_t>(std::ssize(attempt.ranks), 1)));
}

}  // namespace

template <typename Reply, typename Read>
grpc::ServerUnaryReactor* ResultsService::Answer(
    grpc::CallbackServerContext* context, Reply* reply, Read read) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  // Request and reply live until Finish.
  parts_.background.Post(
      [reactor, reply, read = std::move(read)](const std::stop_token& stop) {
        if (stop.stop_requested()) return reactor->Finish(Stopping());
        absl::StatusOr<Reply> answer = read();
        if (answer.ok()) *reply = *std::move(answer);
        reactor->Finish(ToGrpc(answer.status()));
      });
  return reactor;
}

grpc::ServerUnaryReactor* ResultsService::ListSweeps(
    grpc::CallbackServerContext* context, const v1::ListSweepsRequest* request,
    v1::ListSweepsReply* reply) {
  return Answer(context, reply, [this, request] {
    return rpc::ListSweeps(parts_.reader, *request);
  });
}

grpc::ServerWriteReactor<v1::ResultsPart>* ResultsService::Results(
    grpc::CallbackServerContext*, const v1::ResultsRequest* request) {
  auto pages =
      std::make_shared<ResultsPages>(parts_.reader, parts_.database, *request);
  auto stream = MakeStream<PagedStream<v1::ResultsPart>>(
      parts_.background, [pages] { return pages->Next(); });
  stream->Begin();
  return stream.get();
}

grpc::ServerUnaryReactor* ResultsService::ListTrials(
    grpc::CallbackServerContext* context, const v1::ListTrialsRequest* request,
    v1::ListTrialsReply* reply) {
  return Answer(context, reply, [this, request] {
    return rpc::ListTrials(parts_.reader, *request);
  });
}

grpc::ServerUnaryReactor* ResultsService::ShowTrial(
    grpc::CallbackServerContext* context, const v1::TrialRequest* request,
    v1::ShowTrialReply* reply) {
  return Answer(context, reply,
                [this, request]() -> absl::StatusOr<v1::ShowTrialReply> {
                  const auto trial = ReadTrialId(request->trial());
                  if (!trial.ok()) return trial.status();
                  return rpc::ShowTrial(parts_.reader, *trial);
                });
}

grpc::ServerUnaryReactor* ResultsService::TrainerConfig(
    grpc::CallbackServerContext* context, const v1::TrialRequest* request,
    v1::TrainerConfigReply* reply) {
  return Answer(context, reply,
                [this, request]() -> absl::StatusOr<v1::TrainerConfigReply> {
                  const auto trial = ReadTrialId(request->trial());
                  if (!trial.ok()) return trial.status();
                  auto json = TrainerConfigOf(parts_.reader, *trial);
                  if (!json.ok()) return json.status();
                  v1::TrainerConfigReply answer;
                  answer.set_json(*std::move(json));
                  return answer;
                });
}

grpc::ServerUnaryReactor* ResultsService::Routing(
    grpc::CallbackServerContext* context, const v1::RoutingRequest* request,
    v1::RoutingReply* reply) {
  return Answer(context, reply, [this, request] {
    return ReadRouting(parts_.reader, *request);
  });
}

grpc::ServerUnaryReactor* ResultsService::Curve(
    grpc::CallbackServerContext* context, const v1::CurveRequest* request,
    v1::CurveReply* reply) {
  return Answer(context, reply,
                [this, request] { return ReadCurve(parts_.reader, *request); });
}

grpc::ServerWriteReactor<v1::LogChunk>* ResultsService::ReadLog(
    grpc::CallbackServerContext*, const v1::LogRequest* request) {
  auto stream = MakeStream<LogStream>(parts_.logs);
  parts_.background.Post(
      [this, stream, request = *request](const std::stop_token&) {
        const absl::Status begun = BeginLog(request, *stream);
        if (!begun.ok()) stream->Close(ToGrpc(begun));
      });
  return stream.get();
}

absl::Status ResultsService::BeginLog(const v1::LogRequest& request,
                                      LogStream& stream) {
  const auto trial = ReadTrialId(request.trial());
  if (!trial.ok()) return trial.status();
  const auto log = LogName(request.stream());
  if (!log.ok()) return log.status();
  if (request.offset() < 0 || request.tail() < 0 ||
      (request.offset() > 0 && request.tail() > 0)) {
    return absl::InvalidArgumentError(
        "an offset and a number of last lines are not negative, and exclude "
        "each other");
  }
  const auto attempt = FindAttempt(parts_.reader, *trial, request.attempt());
  if (!attempt.ok()) return attempt.status();
  const auto node = NodeOf(*attempt, request.rank());
  if (!node.ok()) return node.status();
  stream.Begin(*node, {attempt->key, *log, 0, 0, request.rank()},
               {request.offset(), request.tail()},
               ToText(*trial) + "@" + std::to_string(attempt->key.number));
  return absl::OkStatus();
}

}  // namespace leadline::rpc
