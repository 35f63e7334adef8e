// Removal of sweeps and of what was measured of trials, and before it what that
// frees: in the store, and on nodes.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

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
    grpc::Status id = CheckRequestId(request.request_id());
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

bool IsEmpty(const NodeKept& kept) {
  return kept.unknown.empty() && kept.size == KeptSize{};
}

std::string HostName() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

/// What a call is to remove, each once.
struct Removal {
  control::RemoveTargets command;
  std::vector<SweepId> sweeps;  // those it removes whole
  std::set<std::string> nodes;  // where their attempts ran; on a dry run

  /// Unless it is there already, itself or with its sweep.
  void Add(const control::Target& target) {
    auto& targets = command.targets;
    const auto is_there = [&](const control::Target& one) {
      return std::find(targets.begin(), targets.end(), one) != targets.end();
    };
    const auto* trial = std::get_if<TrialId>(&target);
    if (is_there(target) || (trial && is_there(trial->cell.sweep))) return;
    targets.push_back(target);
    const auto* sweep = std::get_if<SweepId>(&target);
    if (sweep) sweeps.push_back(*sweep);
  }
};

namespace {

/// Sweeps first, as they were named: a trial may be of a sweep named after it.
absl::StatusOr<Removal> FindTargets(const storage::StoreReader& reader,
                                    const v1::RemoveRequest& request) {
  std::vector<control::Target> targets;
  for (const std::string& text : request.targets()) {
    auto target = FindTarget(reader, text);
    if (!target.ok()) return target.status();
    targets.push_back(*std::move(target));
  }
  std::stable_partition(targets.begin(), targets.end(), [](const auto& one) {
    return std::holds_alternative<SweepId>(one);
  });
  Removal removal;
  removal.command.request_id = request.request_id();
  removal.command.dry_run = request.dry_run();
  for (const control::Target& target : targets) removal.Add(target);
  return removal;
}

/// Says the targets, and on a dry run what each holds: what has gone cannot be
/// counted when the answer is asked for again.
absl::Status CountTargets(const storage::StoreReader& reader, Removal& removal,
                          v1::RemoveReply& reply) {
  for (const control::Target& target : removal.command.targets) {
    v1::RemovedTarget& one = *reply.add_targets();
    one.set_target(std::visit([](const auto& t) { return ToText(t); }, target));
    if (!removal.command.dry_run) continue;
    const auto contents = ContentsOf(reader, target);
    if (!contents.ok()) return contents.status();
    one.set_trials(contents->trials);
    one.set_attempts(contents->attempts);
    one.set_points(contents->points);
    one.set_routings(contents->routings);
    one.set_bytes(contents->bytes);
    removal.nodes.insert(contents->nodes.begin(), contents->nodes.end());
  }
  return absl::OkStatus();
}

void Tell(const std::vector<NodeKept>& nodes, const Removal& removal,
          v1::RemoveReply& reply) {
  for (const NodeKept& kept : nodes) {
    if (IsEmpty(kept) && !removal.nodes.contains(kept.node)) continue;
    v1::NodeFiles& node = *reply.add_nodes();
    node.set_node(kept.node);
    node.set_attempts(kept.size.attempts);
    node.set_checkpoints(kept.size.checkpoints);
    node.set_bytes(kept.size.bytes);
    node.set_at_least(kept.size.at_least);
    node.set_unknown(kept.unknown);
  }
}

}  // namespace

/// The agent of a private coordinator comes only while work is wanted; what it
/// keeps lies in the folder they share.
std::vector<NodeKept> SweepService::KeptHere(const Removal& removal,
                                             const std::stop_token& stop) {
  NodeKept here{HostName(), {}, ""};
  // It may take long: other calls need threads, too.
  if (files_are_weighed_.exchange(true)) {
    here.unknown = "somebody else asks for it just now; ask again";
  } else {
    const auto until = std::chrono::steady_clock::now() + kTimeToWeigh;
    here.size = WeighFiles(removal.sweeps,
                           {parts_.state, parts_.state / "checkpoints"}, [&] {
                             return !stop.stop_requested() &&
                                    std::chrono::steady_clock::now() < until;
                           });
    files_are_weighed_ = false;
  }
  std::vector<NodeKept> nodes;
  for (const std::string& node : removal.nodes) {
    if (node == here.node) continue;
    nodes.push_back({node, {}, "it is not connected"});
  }
  nodes.push_back(std::move(here));
  return nodes;
}

/// Fills in what nodes keep, and ends the call.
void SweepService::FinishDryRun(const Removal& removal, v1::RemoveReply* reply,
                                grpc::ServerUnaryReactor* reactor) {
  const auto finish = [removal, reply, reactor](const auto& nodes) {
    Tell(nodes, removal, *reply);
    reactor->Finish(grpc::Status::OK);
  };
  if (!parts_.is_private) {
    return parts_.agents.WeighFiles(
        removal.sweeps, {removal.nodes.begin(), removal.nodes.end()}, finish);
  }
  parts_.background.Post([this, removal, finish](const std::stop_token& stop) {
    finish(KeptHere(removal, stop));
  });
}

grpc::ServerUnaryReactor* SweepService::Remove(
    grpc::CallbackServerContext* context, const v1::RemoveRequest* request,
    v1::RemoveReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status check = CheckRemove(*request);
  if (!check.ok()) {
    reactor->Finish(check);
    return reactor;
  }
  parts_.background.Post([this, request, reply,
                          reactor](const std::stop_token&) {
    auto removal = FindTargets(parts_.reader, *request);
    if (!removal.ok()) return reactor->Finish(ToGrpc(removal.status()));
    const absl::Status counted = CountTargets(parts_.reader, *removal, *reply);
    if (!counted.ok()) return reactor->Finish(ToGrpc(counted));
    parts_.commands.Post(removal->command, [this, removal = *removal, reply,
                                            reactor](const auto& answer) {
      if (!answer.ok() || removal.sweeps.empty()) {
        return reactor->Finish(ToGrpc(answer.status()));
      }
      if (removal.command.dry_run) {
        return FinishDryRun(removal, reply, reactor);
      }
      parts_.agents.TellRemoved(removal.sweeps);
      reactor->Finish(grpc::Status::OK);
    });
  });
  return reactor;
}

}  // namespace leadline::rpc
