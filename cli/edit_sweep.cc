#include "cli/edit_sweep.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/sweep_file.h"
#include "cli/sweep_rows.h"
#include "common/nearest_name.h"

namespace leadline::cli {
namespace {

std::string Line(const v1::EditReply& reply, const Style& style) {
  const v1::SweepSummary& sweep = reply.sweep();
  std::string text = style.Clean(sweep.sweep());
  text += sweep.archived_at().empty()
              ? ": not archived"
              : ": archived at " + style.Clean(sweep.archived_at());
  if (sweep.tags_size() > 0) text += "; tags: " + TagsText(sweep, style);
  if (!sweep.note().empty()) text += "; note: " + style.Clean(sweep.note());
  return text + (reply.changed() ? "\n" : " (as before)\n");
}

// Those of `wanted` that the sweep does not have now. Where that cannot be
// learnt, none: the change itself tells why.
std::vector<std::string> TagsNotThere(
    Connection& connection, const std::string& target,
    const google::protobuf::RepeatedPtrField<std::string>& wanted,
    Output& output) {
  if (wanted.empty()) return {};
  const auto trials = FetchTrials(connection, target, 1);
  if (!trials.ok()) return {};
  const auto sweep = FetchSweep(connection, trials->sweep);
  if (!sweep.ok()) return {};
  const std::vector<std::string_view> tags(sweep->tags().begin(),
                                           sweep->tags().end());
  std::vector<std::string> missing;
  for (const std::string& tag : wanted) {
    if (std::find(tags.begin(), tags.end(), tag) != tags.end()) continue;
    missing.push_back(tag);
    output.Note(fmt::format(
        "{} has no tag {}{}", output.err().Clean(trials->sweep),
        output.err().Clean(tag), output.err().Clean(DidYouMean(tag, tags))));
  }
  return missing;
}

}  // namespace

absl::Status EditSweep(Context& context, v1::EditRequest request) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  request.set_request_id(FreshRequestId());
  const std::vector<std::string> not_there = TagsNotThere(
      **connection, request.sweep(), request.remove_tags(), context.output);
  const auto reply =
      (*connection)
          ->Ask<v1::EditReply>(
              [&](grpc::ClientContext* call, v1::EditReply* answer) {
                return (*connection)->sweeps().Edit(call, request, answer);
              });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) {
    Json json = SweepJson(reply->sweep());
    json["changed"] = reply->changed();
    if (request.remove_tags_size() > 0) json["not_there"] = not_there;
    context.output.PrintJson(json);
  }
  context.output.Print(Line(*reply, context.output.out()));
  return absl::OkStatus();
}

}  // namespace leadline::cli
