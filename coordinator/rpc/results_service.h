// What people call to read: tables over seeds, trials, curves, routing, logs.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include <absl/status/status.h>

#include "coordinator/rpc/background.h"
#include "coordinator/rpc/log_source.h"
#include "coordinator/rpc/log_stream.h"
#include "leadline/v1/results_service.grpc.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// What the service works with; all of it must outlive the service.
struct ResultsServiceParts {
  const storage::StoreReader& reader;
  Background& background;
  LogSource& logs;
  std::string database;  // path of the SQLite file, to be shown
};

/// Reads the store in the background and changes nothing.
class ResultsService final : public v1::ResultsService::CallbackService {
 public:
  explicit ResultsService(ResultsServiceParts parts)
      : parts_(std::move(parts)) {}

  grpc::ServerUnaryReactor* ListSweeps(grpc::CallbackServerContext* context,
                                       const v1::ListSweepsRequest* request,
                                       v1::ListSweepsReply* reply) override;

  grpc::ServerWriteReactor<v1::ResultsPart>* Results(
      grpc::CallbackServerContext*, const v1::ResultsRequest* request) override;

  grpc::ServerUnaryReactor* ListTrials(grpc::CallbackServerContext* context,
                                       const v1::ListTrialsRequest* request,
                                       v1::ListTrialsReply* reply) override;

  grpc::ServerUnaryReactor* ShowTrial(grpc::CallbackServerContext* context,
                                      const v1::TrialRequest* request,
                                      v1::ShowTrialReply* reply) override;

  grpc::ServerUnaryReactor* TrainerConfig(
      grpc::CallbackServerContext* context, const v1::TrialRequest* request,
      v1::TrainerConfigReply* reply) override;

  grpc::ServerUnaryReactor* Routing(grpc::CallbackServerContext* context,
                                    const v1::RoutingRequest* request,
                                    v1::RoutingReply* reply) override;

  grpc::ServerUnaryReactor* Curve(grpc::CallbackServerContext* context,
                                  const v1::CurveRequest* request,
                                  v1::CurveReply* reply) override;

  grpc::ServerWriteReactor<v1::LogChunk>* ReadLog(
      grpc::CallbackServerContext*, const v1::LogRequest* request) override;

 private:
  /// Answers a call with what `read` returns: a StatusOr of the reply.
  template <typename Reply, typename Read>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   Reply* reply, Read read);

  absl::Status BeginLog(const v1::LogRequest& request, LogStream& stream);

  const ResultsServiceParts parts_;
};

}  // namespace leadline::rpc
