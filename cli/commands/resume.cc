#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/numbers.h"
#include "cli/sweep_file.h"

namespace leadline::cli {
namespace {

std::string Text(const v1::ResumeReply& reply, const Style& style) {
  const std::string sweep = style.Clean(reply.sweep());
  if (!reply.changed()) {
    return fmt::format("{}: 0 sweeps resumed: it is {}\n", sweep,
                       reply.state());
  }
  std::string text = fmt::format("{}: resumed; {} queued again", sweep,
                                 Counted(reply.queued(), "suspended trial"));
  if (reply.waiting() > 0) {
    text += fmt::format(", {} for a device in all",
                        reply.waiting() == 1
                            ? "1 trial waits"
                            : Grouped(reply.waiting()) + " trials wait");
  }
  return text + "\n";
}

absl::Status Resume(Context& context, const std::string& sweep) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  v1::ResumeRequest request;
  request.set_sweep(sweep);
  request.set_request_id(FreshRequestId());
  const auto reply =
      (*connection)
          ->Ask<v1::ResumeReply>(
              [&](grpc::ClientContext* call, v1::ResumeReply* answer) {
                return (*connection)->sweeps().Resume(call, request, answer);
              });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) {
    context.output.PrintJson({{"sweep", reply->sweep()},
                              {"state", reply->state()},
                              {"changed", reply->changed()},
                              {"queued", reply->queued()},
                              {"waiting", reply->waiting()}});
  }
  context.output.Print(Text(*reply, context.output.out()));
  return absl::OkStatus();
}

}  // namespace

Command ResumeCommand() {
  return {"resume", "go on with a paused sweep", "  leadline resume s1\n",
          [](CLI::App& app) -> Action {
            auto sweep = std::make_shared<std::string>();
            app.add_option("sweep", *sweep, "id, or unique prefix of a name")
                ->option_text("SWEEP")
                ->required();
            return
                [sweep](Context& context) { return Resume(context, *sweep); };
          }};
}

}  // namespace leadline::cli
