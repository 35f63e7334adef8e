#include "cli/edit_sweep.h"

#include <utility>

#include <fmt/format.h>

#include "cli/sweep_file.h"
#include "cli/sweep_rows.h"

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

}  // namespace

absl::Status EditSweep(Context& context, v1::EditRequest request) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  request.set_request_id(FreshRequestId());
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
    context.output.PrintJson(json);
  }
  context.output.Print(Line(*reply, context.output.out()));
  return absl::OkStatus();
}

}  // namespace leadline::cli
