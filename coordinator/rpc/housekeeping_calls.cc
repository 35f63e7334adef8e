// Calls that keep the list of sweeps in order: notes, tags, the archive, and a
// copy of everything.

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
  grpc::Status id = CheckRequestId(request.request_id());
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

grpc::ServerWriteReactor<v1::BackupPart>* SweepService::Backup(
    grpc::CallbackServerContext*, const v1::BackupRequest*) {
  auto pages = std::make_shared<BackupPages>(parts_.reader, parts_.state,
                                             backup_is_made_);
  auto stream = MakeStream<PagedStream<v1::BackupPart>>(
      parts_.background, [pages] { return pages->Next(); });
  stream->Begin();
  return stream.get();
}

}  // namespace leadline::rpc
