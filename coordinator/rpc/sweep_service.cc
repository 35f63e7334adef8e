#include "coordinator/rpc/sweep_service.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "coordinator/rpc/doorkeeper.h"
#include "coordinator/rpc/plan_request.h"
#include "coordinator/rpc/request_id.h"
#include "coordinator/rpc/resolve.h"
#include "coordinator/rpc/status.h"
#include "coordinator/rpc/sweep_convert.h"

namespace leadline::rpc {
namespace {

constexpr size_t kPageBytes = size_t{200} << 10;  // of planned cells

using PlanStream = ServerStream<v1::PlanPart>;

/// OnDone is protected in the base; this one adds nothing.
class PlanWriter final : public PlanStream {};

void SendPlan(const Planned& planned, PlanWriter& stream) {
  v1::PlanPart counts;
  *counts.mutable_counts() = ToProto(planned.plan, planned.sweep.name);
  stream.Send(std::move(counts));
  v1::PlanPart page;
  size_t bytes = 0;
  for (const sweep::PlannedCell& cell : planned.plan.list) {
    v1::PlannedCell message = ToProto(cell, std::ssize(planned.plan.seeds));
    bytes += message.ByteSizeLong();
    *page.mutable_cells()->add_cells() = std::move(message);
    if (bytes > kPageBytes) {
      stream.Send(std::exchange(page, {}));
      bytes = 0;
    }
  }
  if (bytes > 0) stream.Send(std::move(page));
}

}  // namespace

grpc::ServerWriteReactor<v1::AttachReply>* SweepService::Attach(
    grpc::CallbackServerContext*, const v1::AttachRequest* request) {
  return parts_.attachments.Open(*request);
}

grpc::ServerWriteReactor<v1::PlanPart>* SweepService::Plan(
    grpc::CallbackServerContext*, const v1::SubmitRequest* request) {
  auto stream = MakeStream<PlanWriter>();
  parts_.background.Post(
      [stream, request = *request](const std::stop_token& stop) {
        const Planned planned = PlanRequest(request, false, stop);
        if (planned.status.ok()) SendPlan(planned, *stream);
        stream->Close(planned.status);
      });
  return stream.get();
}

grpc::ServerUnaryReactor* SweepService::Submit(
    grpc::CallbackServerContext* context, const v1::SubmitRequest* request,
    v1::SubmitReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status id = CheckRequestId(request->request_id());
  if (!id.ok()) {
    reactor->Finish(id);
    return reactor;
  }
  // A token knows better who submits than a command on whatever machine.
  const auto caller = CallerOf(parts_.door, *context);
  const std::string user =
      caller && !caller->name.empty() ? caller->name : request->user();
  // Request and reply live until Finish.
  parts_.background.Post(
      [this, request, reply, reactor, user](const std::stop_token& stop) {
        const Planned planned = PlanRequest(*request, true, stop);
        if (!planned.status.ok()) return reactor->Finish(planned.status);
        reply->set_name(planned.sweep.name);
        reply->set_cells(planned.plan.cells);
        reply->set_trials(planned.plan.trials);
        reply->set_duplicates(planned.plan.duplicates.value_or(0));
        control::SubmitSweep command;
        command.sweep = ToNewSweep(planned.sweep, planned.plan, *request);
        command.sweep.sweep.user = user;
        command.request_id = request->request_id();
        command.make_new = request->make_new();
        parts_.commands.Post(
            std::move(command), [reply, reactor](const auto& answer) {
              if (!answer.ok()) return reactor->Finish(ToGrpc(answer.status()));
              const auto& submitted = std::get<control::SubmitAnswer>(*answer);
              reply->set_sweep(ToText(submitted.sweep));
              reply->set_existing(submitted.existing);
              reactor->Finish(grpc::Status::OK);
            });
      });
  return reactor;
}

grpc::ServerUnaryReactor* SweepService::Cancel(
    grpc::CallbackServerContext* context, const v1::CancelRequest* request,
    v1::CancelReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status id = CheckRequestId(request->request_id());
  if (!id.ok()) {
    reactor->Finish(id);
    return reactor;
  }
  parts_.background.Post(
      [this, request, reply, reactor](const std::stop_token&) {
        const auto target = ResolveTarget(parts_.reader, request->target());
        if (!target.ok()) return reactor->Finish(ToGrpc(target.status()));
        reply->set_target(
            std::visit([](const auto& t) { return ToText(t); }, *target));
        parts_.commands.Post(
            control::CancelTarget{*target, request->request_id(), {}},
            [reply, reactor](const auto& answer) {
              // It exists, but among those that have ended: nothing to cancel.
              if (absl::IsNotFound(answer.status())) {
                return reactor->Finish(grpc::Status::OK);
              }
              if (!answer.ok()) return reactor->Finish(ToGrpc(answer.status()));
              reply->set_cancelled(
                  std::get<control::CancelAnswer>(*answer).cancelled);
              reactor->Finish(grpc::Status::OK);
            });
      });
  return reactor;
}

grpc::ServerWriteReactor<v1::Progress>* SweepService::Watch(
    grpc::CallbackServerContext*, const v1::WatchRequest* request) {
  auto stream = MakeStream<WatchStream>(parts_.watchers);
  parts_.background.Post(
      [this, stream, text = request->sweep()](const std::stop_token&) {
        const auto sweep = ResolveSweep(parts_.reader, text);
        if (!sweep.ok()) return stream->Close(ToGrpc(sweep.status()));
        Follow(*sweep, stream);
      });
  return stream.get();
}

void SweepService::Follow(SweepId sweep,
                          const std::shared_ptr<WatchStream>& stream) {
  // First among the watchers, then the first report: none is missed between.
  parts_.watchers.Add(sweep, stream);
  parts_.commands.Post(
      control::LookAtSweep{sweep}, [this, sweep, stream](const auto& answer) {
        if (answer.ok()) {
          return stream->Tell(std::get<control::ProgressReport>(*answer));
        }
        if (!absl::IsNotFound(answer.status())) {
          return stream->Close(ToGrpc(answer.status()));
        }
        parts_.background.Post([this, sweep, stream](const std::stop_token&) {
          const auto row = parts_.reader.GetSweep(sweep);
          if (row.ok()) stream->Send(ToProto(*row));
          stream->Close(ToGrpc(row.status()));
        });
      });
}

}  // namespace leadline::rpc
