// Calls that change what becomes of a sweep, and the one that explains it.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/rpc/explanation.h"
#include "coordinator/rpc/request_id.h"
#include "coordinator/rpc/resolve.h"
#include "coordinator/rpc/status.h"
#include "coordinator/rpc/sweep_convert.h"
#include "coordinator/rpc/sweep_service.h"

namespace leadline::rpc {
namespace {

constexpr int kMostTargets = 1000;

absl::StatusOr<std::vector<control::Target>> ResolveAll(
    const storage::StoreReader& reader, const v1::RetryRequest& request) {
  std::vector<control::Target> targets;
  for (const std::string& text : request.targets()) {
    const auto target = ResolveTarget(reader, text);
    if (!target.ok()) return target.status();
    targets.push_back(*target);
  }
  return targets;
}

grpc::Status CheckRetry(const v1::RetryRequest& request) {
  const grpc::Status id = CheckRequestId(request.request_id());
  if (!id.ok()) return id;
  if (request.targets().empty() || request.targets_size() > kMostTargets) {
    return {grpc::StatusCode::INVALID_ARGUMENT,
            "a retry names 1 to 1000 sweeps, cells or trials"};
  }
  return grpc::Status::OK;
}

/// Finishes with the state the sweep has by now: an answer that is repeated
/// tells what was done then.
template <typename Reply>
void FinishWithState(const storage::StoreReader& reader, Background& background,
                     SweepId sweep, Reply* reply,
                     grpc::ServerUnaryReactor* reactor) {
  background.Post([&reader, sweep, reply, reactor](const std::stop_token&) {
    const auto row = reader.GetSweep(sweep);
    if (row.ok()) reply->set_state(std::string(Name(row->sweep.state)));
    reactor->Finish(ToGrpc(row.status()));
  });
}

}  // namespace

grpc::ServerUnaryReactor* SweepService::Retry(
    grpc::CallbackServerContext* context, const v1::RetryRequest* request,
    v1::RetryReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status check = CheckRetry(*request);
  if (!check.ok()) {
    reactor->Finish(check);
    return reactor;
  }
  parts_.background.Post(
      [this, request, reply, reactor](const std::stop_token&) {
        auto targets = ResolveAll(parts_.reader, *request);
        if (!targets.ok()) return reactor->Finish(ToGrpc(targets.status()));
        control::RetryTargets command;
        command.targets = *std::move(targets);
        command.failed = request->failed() || !request->cancelled();
        command.cancelled = request->cancelled();
        command.request_id = request->request_id();
        parts_.commands.Post(
            std::move(command), [reply, reactor](const auto& answer) {
              if (answer.ok()) {
                *reply = ToProto(std::get<control::RetryAnswer>(*answer));
              }
              reactor->Finish(ToGrpc(answer.status()));
            });
      });
  return reactor;
}

grpc::ServerUnaryReactor* SweepService::Pause(
    grpc::CallbackServerContext* context, const v1::PauseRequest* request,
    v1::PauseReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status id = CheckRequestId(request->request_id());
  if (!id.ok()) {
    reactor->Finish(id);
    return reactor;
  }
  parts_.background.Post([this, request, reply,
                          reactor](const std::stop_token&) {
    const auto sweep = ResolveNamedSweep(parts_.reader, request->sweep());
    if (!sweep.ok()) return reactor->Finish(ToGrpc(sweep.status()));
    reply->set_sweep(ToText(*sweep));
    parts_.commands.Post(
        control::PauseSweep{*sweep, request->stop(), request->request_id(), {}},
        [this, sweep = *sweep, reply, reactor](const auto& answer) {
          // It exists, but among those that have ended: nothing to pause.
          if (!answer.ok() && !absl::IsNotFound(answer.status())) {
            return reactor->Finish(ToGrpc(answer.status()));
          }
          if (answer.ok()) {
            Copy(std::get<control::PauseAnswer>(*answer), *reply);
          }
          FinishWithState(parts_.reader, parts_.background, sweep, reply,
                          reactor);
        });
  });
  return reactor;
}

grpc::ServerUnaryReactor* SweepService::Resume(
    grpc::CallbackServerContext* context, const v1::ResumeRequest* request,
    v1::ResumeReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status id = CheckRequestId(request->request_id());
  if (!id.ok()) {
    reactor->Finish(id);
    return reactor;
  }
  parts_.background.Post(
      [this, request, reply, reactor](const std::stop_token&) {
        const auto sweep = ResolveNamedSweep(parts_.reader, request->sweep());
        if (!sweep.ok()) return reactor->Finish(ToGrpc(sweep.status()));
        reply->set_sweep(ToText(*sweep));
        parts_.commands.Post(
            control::ResumeSweep{*sweep, request->request_id(), {}},
            [this, sweep = *sweep, reply, reactor](const auto& answer) {
              if (!answer.ok() && !absl::IsNotFound(answer.status())) {
                return reactor->Finish(ToGrpc(answer.status()));
              }
              if (answer.ok()) {
                Copy(std::get<control::ResumeAnswer>(*answer), *reply);
              }
              FinishWithState(parts_.reader, parts_.background, sweep, reply,
                              reactor);
            });
      });
  return reactor;
}

grpc::ServerUnaryReactor* SweepService::Explain(
    grpc::CallbackServerContext* context, const v1::ExplainRequest* request,
    v1::ExplainReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  parts_.background.Post([this, request, reply,
                          reactor](const std::stop_token&) {
    const auto target = ResolveTarget(parts_.reader, request->target());
    if (!target.ok()) return reactor->Finish(ToGrpc(target.status()));
    if (std::holds_alternative<CellId>(*target)) {
      return reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT,
                              "a cell has no fate of its own; name its sweep "
                              "or one of its trials"});
    }
    // What control decides by first, then what the store has: it is at least
    // as new.
    parts_.commands.Post(
        control::ExplainTarget{*target},
        [this, target = *target, reply, reactor](const auto& answer) {
          if (!answer.ok() && !absl::IsNotFound(answer.status())) {
            return reactor->Finish(ToGrpc(answer.status()));
          }
          std::optional<control::Explanation> now;
          if (answer.ok()) now = std::get<control::Explanation>(*answer);
          parts_.background.Post([this, target, now = std::move(now), reply,
                                  reactor](const std::stop_token&) {
            auto whole = ExplainWith(parts_.reader, target, now);
            if (whole.ok()) *reply = *std::move(whole);
            reactor->Finish(ToGrpc(whole.status()));
          });
        });
  });
  return reactor;
}

}  // namespace leadline::rpc
