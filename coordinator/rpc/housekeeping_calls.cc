// Calls that keep the list of sweeps in order: notes, tags, the archive,
// removal, and a copy of everything.

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/utf8_prefix.h"
#include "coordinator/rpc/backup_pages.h"
#include "coordinator/rpc/paged_stream.h"
#include "coordinator/rpc/request_id.h"
#include "coordinator/rpc/resolve.h"
#include "coordinator/rpc/results_convert.h"
#include "coordinator/rpc/status.h"
#include "coordinator/rpc/sweep_service.h"

namespace leadline::rpc {
namespace {

constexpr size_t kLongestTag = 64;
constexpr size_t kLongestNote = 4000;
constexpr int kMostTagsAtOnce = 64;
constexpr int kMostTargets = 1000;

grpc::Status Invalid(const std::string& why) {
  return {grpc::StatusCode::INVALID_ARGUMENT, why};
}

bool IsTag(const std::string& tag) {
  if (tag.empty() || tag.size() > kLongestTag) return false;
  if (tag.front() == '+' || tag.front() == '-') return false;
  return std::none_of(tag.begin(), tag.end(), [](unsigned char byte) {
    return byte <= ' ' || byte == ',' || byte == 0x7f;
  });
}

template <typename Tags>
grpc::Status CheckTags(const Tags& tags) {
  if (tags.size() > kMostTagsAtOnce) return Invalid("too many tags at once");
  for (const std::string& tag : tags) {
    if (IsTag(tag)) continue;
    return Invalid("\"" + std::string(Utf8Prefix(tag, kLongestTag)) +
                   "\" is no tag: 1 to 64 bytes without blanks, commas and "
                   "control characters that do not begin with + or -");
  }
  return grpc::Status::OK;
}

grpc::Status CheckEdit(const v1::EditRequest& request) {
  const grpc::Status id = CheckRequestId(request.request_id());
  if (!id.ok()) return id;
  if (request.has_note() && request.note().size() > kLongestNote) {
    return Invalid("a note has 4000 bytes at most");
  }
  if (request.note().find('\0') != std::string::npos) {
    return Invalid("a note holds no NUL");
  }
  const grpc::Status added = CheckTags(request.add_tags());
  return added.ok() ? CheckTags(request.remove_tags()) : added;
}

control::EditSweep ToCommand(const v1::EditRequest& request, SweepId sweep) {
  control::EditSweep command;
  command.sweep = sweep;
  if (request.has_archived()) command.archived = request.archived();
  if (request.has_note()) command.note = request.note();
  command.add_tags = {request.add_tags().begin(), request.add_tags().end()};
  command.remove_tags = {request.remove_tags().begin(),
                         request.remove_tags().end()};
  command.request_id = request.request_id();
  return command;
}

grpc::Status CheckRemove(const v1::RemoveRequest& request) {
  if (!request.dry_run()) {
    const grpc::Status id = CheckRequestId(request.request_id());
    if (!id.ok()) return id;
  }
  if (request.targets().empty() || request.targets_size() > kMostTargets) {
    return Invalid("a removal names 1 to 1000 sweeps or trials");
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

/// Those it removes whole.
std::vector<SweepId> SweepsOf(const control::RemoveTargets& command) {
  std::vector<SweepId> sweeps;
  if (command.dry_run) return sweeps;
  for (const control::Target& target : command.targets) {
    if (const auto* sweep = std::get_if<SweepId>(&target)) {
      sweeps.push_back(*sweep);
    }
  }
  return sweeps;
}

/// The targets, and on a dry run what each holds.
absl::StatusOr<std::vector<control::Target>> Weigh(
    const storage::StoreReader& reader, const v1::RemoveRequest& request,
    v1::RemoveReply& reply) {
  std::vector<control::Target> targets;
  for (const std::string& text : request.targets()) {
    const auto target = FindTarget(reader, text);
    if (!target.ok()) return target.status();
    v1::RemovedTarget& one = *reply.add_targets();
    one.set_target(
        std::visit([](const auto& t) { return ToText(t); }, *target));
    targets.push_back(*target);
    // What has gone cannot be weighed when the answer is asked for again.
    if (!request.dry_run()) continue;
    const auto contents = ContentsOf(reader, *target);
    if (!contents.ok()) return contents.status();
    one.set_trials(contents->trials);
    one.set_attempts(contents->attempts);
    one.set_points(contents->points);
    one.set_routings(contents->routings);
    one.set_bytes(contents->bytes);
  }
  return targets;
}

}  // namespace

grpc::ServerUnaryReactor* SweepService::Edit(
    grpc::CallbackServerContext* context, const v1::EditRequest* request,
    v1::EditReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status check = CheckEdit(*request);
  if (!check.ok()) {
    reactor->Finish(check);
    return reactor;
  }
  parts_.background.Post([this, request, reply,
                          reactor](const std::stop_token&) {
    const auto sweep = ResolveNamedSweep(parts_.reader, request->sweep());
    if (!sweep.ok()) return reactor->Finish(ToGrpc(sweep.status()));
    parts_.commands.Post(
        ToCommand(*request, *sweep),
        [this, sweep = *sweep, reply, reactor](const auto& answer) {
          if (!answer.ok()) return reactor->Finish(ToGrpc(answer.status()));
          reply->set_changed(std::get<control::EditAnswer>(*answer).changed);
          parts_.background.Post(
              [this, sweep, reply, reactor](const std::stop_token&) {
                const auto row = parts_.reader.GetSweep(sweep);
                if (row.ok()) *reply->mutable_sweep() = SummaryOf(*row);
                reactor->Finish(ToGrpc(row.status()));
              });
        });
  });
  return reactor;
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
  parts_.background.Post(
      [this, request, reply, reactor](const std::stop_token&) {
        auto targets = Weigh(parts_.reader, *request, *reply);
        if (!targets.ok()) return reactor->Finish(ToGrpc(targets.status()));
        control::RemoveTargets command;
        command.targets = *std::move(targets);
        command.request_id = request->request_id();
        command.dry_run = request->dry_run();
        const std::vector<SweepId> sweeps = SweepsOf(command);
        parts_.commands.Post(std::move(command),
                             [this, sweeps, reactor](const auto& answer) {
                               if (answer.ok() && !sweeps.empty()) {
                                 parts_.agents.TellRemoved(sweeps);
                               }
                               reactor->Finish(ToGrpc(answer.status()));
                             });
      });
  return reactor;
}

grpc::ServerWriteReactor<v1::BackupPart>* SweepService::Backup(
    grpc::CallbackServerContext*, const v1::BackupRequest*) {
  auto pages = std::make_shared<BackupPages>(parts_.reader, parts_.scratch,
                                             backup_is_made_);
  auto stream = MakeStream<PagedStream<v1::BackupPart>>(
      parts_.background, [pages] { return pages->Next(); });
  stream->Begin();
  return stream.get();
}

}  // namespace leadline::rpc
