// Removal of sweeps and of what was measured of trials, and before it what that
// frees: in the store, and on nodes.

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "common/kept_files.h"
#include "coordinator/rpc/request_id.h"
#include "coordinator/rpc/resolve.h"
#include "coordinator/rpc/status.h"
#include "coordinator/rpc/sweep_service.h"

namespace leadline::rpc {
namespace {

constexpr int kMostTargets = 1000;

grpc::Status CheckRemove(const v1::RemoveRequest& request) {
  if (!request.dry_run()) {
    const grpc::Status id = CheckRequestId(request.request_id());
    if (!id.ok()) return id;
  }
  if (request.targets().empty() || request.targets_size() > kMostTargets) {
    return {grpc::StatusCode::INVALID_ARGUMENT,
            "a removal names 1 to 1000 sweeps or trials"};
  }
  return grpc::Status::OK;
}

absl::StatusOr<storage::Contents> ContentsOf(const storage::StoreReader& reader,
                                             const control::Target& target) {
  if (const auto* sweep = std::get_if<SweepId>(&target)) {
    return reader.CountContents(*sweep);
  }
  if (const auto* trial = std::get_if<TrialId>(&target)) {
    return reader.CountContents(*trial);
  }
  return absl::InvalidArgumentError(
      "a cell cannot be removed alone; name its sweep, or its trials");
}

/// The id of a sweep stands for itself also where it is gone: who asks again
/// gets the answer that was kept.
absl::StatusOr<control::Target> FindTarget(const storage::StoreReader& reader,
                                           const std::string& text) {
  if (const auto sweep = ParseSweepId(text)) return *sweep;
  return ResolveTarget(reader, text);
}

struct Removal {
  control::RemoveTargets command;
  std::vector<SweepId> sweeps;  // those it removes whole
  std::set<std::string> nodes;  // where their attempts ran; on a dry run
};

/// On a dry run with what each target holds, said in the reply.
absl::StatusOr<Removal> Weigh(const storage::StoreReader& reader,
                              const v1::RemoveRequest& request,
                              v1::RemoveReply& reply) {
  Removal removal;
  removal.command.request_id = request.request_id();
  removal.command.dry_run = request.dry_run();
  for (const std::string& text : request.targets()) {
    const auto target = FindTarget(reader, text);
    if (!target.ok()) return target.status();
    v1::RemovedTarget& one = *reply.add_targets();
    one.set_target(
        std::visit([](const auto& t) { return ToText(t); }, *target));
    removal.command.targets.push_back(*target);
    const auto* sweep = std::get_if<SweepId>(&*target);
    if (sweep) removal.sweeps.push_back(*sweep);
    // What has gone cannot be weighed when the answer is asked for again.
    if (!request.dry_run()) continue;
    const auto contents = ContentsOf(reader, *target);
    if (!contents.ok()) return contents.status();
    one.set_trials(contents->trials);
    one.set_attempts(contents->attempts);
    one.set_points(contents->points);
    one.set_routings(contents->routings);
    one.set_bytes(contents->bytes);
    removal.nodes.insert(contents->nodes.begin(), contents->nodes.end());
  }
  return removal;
}

bool IsEmpty(const NodeKept& kept) {
  return kept.unknown.empty() && kept.size == KeptSize{};
}

/// The agent of a private coordinator comes only while work is wanted; what it
/// keeps lies in the folder they share. Null: nothing does.
std::optional<NodeKept> KeptHere(const std::filesystem::path& state,
                                 const Removal& removal) {
  std::error_code error;
  const KeptFiles files{state, state / "checkpoints"};
  if (!std::filesystem::is_directory(state / "attempts", error)) return {};
  return NodeKept{
      removal.nodes.size() == 1 ? *removal.nodes.begin() : "this machine",
      WeighFiles(removal.sweeps, files), ""};
}

void Tell(const std::vector<NodeKept>& nodes, v1::RemoveReply& reply) {
  for (const NodeKept& kept : nodes) {
    if (IsEmpty(kept)) continue;
    v1::NodeFiles& node = *reply.add_nodes();
    node.set_node(kept.node);
    node.set_attempts(kept.size.attempts);
    node.set_checkpoints(kept.size.checkpoints);
    node.set_bytes(kept.size.bytes);
    node.set_unknown(kept.unknown);
  }
}

/// Fills in what nodes keep and ends the call.
void FinishDryRun(const SweepServiceParts& parts, const Removal& removal,
                  v1::RemoveReply* reply, grpc::ServerUnaryReactor* reactor) {
  parts.background.Post(
      [&parts, removal, reply, reactor](const std::stop_token&) {
        if (parts.agents.HasNone()) {
          if (const auto here = KeptHere(parts.state, removal)) {
            Tell({*here}, *reply);
            return reactor->Finish(grpc::Status::OK);
          }
        }
        parts.agents.WeighFiles(removal.sweeps,
                                {removal.nodes.begin(), removal.nodes.end()},
                                [reply, reactor](const auto& nodes) {
                                  Tell(nodes, *reply);
                                  reactor->Finish(grpc::Status::OK);
                                });
      });
}

}  // namespace

grpc::ServerUnaryReactor* SweepService::Remove(
    grpc::CallbackServerContext* context, const v1::RemoveRequest* request,
    v1::RemoveReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status check = CheckRemove(*request);
  if (!check.ok()) {
    reactor->Finish(check);
    return reactor;
  }
  parts_.background.Post(
      [this, request, reply, reactor](const std::stop_token&) {
        const auto removal = Weigh(parts_.reader, *request, *reply);
        if (!removal.ok()) return reactor->Finish(ToGrpc(removal.status()));
        parts_.commands.Post(removal->command, [this, removal = *removal, reply,
                                                reactor](const auto& answer) {
          if (!answer.ok() || removal.sweeps.empty()) {
            return reactor->Finish(ToGrpc(answer.status()));
          }
          if (removal.command.dry_run) {
            return FinishDryRun(parts_, removal, reply, reactor);
          }
          parts_.agents.TellRemoved(removal.sweeps);
          reactor->Finish(grpc::Status::OK);
        });
      });
  return reactor;
}

}  // namespace leadline::rpc
