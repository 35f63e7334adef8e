#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/numbers.h"
#include "cli/sweep_file.h"

namespace leadline::cli {
namespace {

struct Options {
  std::vector<std::string> targets;
  bool failed = false;
  bool cancelled = false;
  bool all_unfinished = false;
};

std::string LeftAlone(const v1::RetriedTarget& target) {
  std::string text;
  const auto add = [&text](int64_t count, const char* what) {
    if (count == 0) return;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", Grouped(count), what);
  };
  add(target.failed(), "failed (--failed)");
  add(target.cancelled(), "cancelled (--cancelled)");
  add(target.unfinished(), "not ended");
  add(target.finished(), "with a result");
  return text.empty() ? "" : "; left alone: " + text;
}

std::string Line(const v1::RetriedTarget& target, const Style& style) {
  return fmt::format("{}: {} queued{}\n", style.Clean(target.target()),
                     Counted(target.queued(), "trial"), LeftAlone(target));
}

Json RetryJson(const v1::RetryReply& reply) {
  Json targets = Json::array();
  for (const v1::RetriedTarget& target : reply.targets()) {
    targets.push_back({{"target", target.target()},
                       {"queued", target.queued()},
                       {"failed", target.failed()},
                       {"cancelled", target.cancelled()},
                       {"unfinished", target.unfinished()},
                       {"finished", target.finished()}});
  }
  return {{"queued", reply.queued()}, {"targets", targets}};
}

absl::Status Retry(Context& context, const Options& options) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  v1::RetryRequest request;
  for (const std::string& target : options.targets) request.add_targets(target);
  request.set_failed(options.failed || options.all_unfinished ||
                     !options.cancelled);
  request.set_cancelled(options.cancelled || options.all_unfinished);
  request.set_request_id(FreshRequestId());
  const auto reply =
      (*connection)
          ->Ask<v1::RetryReply>(
              [&](grpc::ClientContext* call, v1::RetryReply* answer) {
                return (*connection)->sweeps().Retry(call, request, answer);
              });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) context.output.PrintJson(RetryJson(*reply));
  for (const v1::RetriedTarget& target : reply->targets()) {
    context.output.Print(Line(target, context.output.out()));
  }
  if (reply->queued() > 0 && (*connection)->coordinator().is_private()) {
    context.output.Print(
        "leadline run with its sweep file trains what waits\n");
  }
  return absl::OkStatus();
}

}  // namespace

Command RetryCommand() {
  return {
      "retry", "queue again what failed or was cancelled",
      "  leadline retry s1                    # the trials of s1 that failed\n"
      "  leadline retry s1 --cancelled        # those that were cancelled\n"
      "  leadline retry s1.3.0 s1.4.1 --all-unfinished\n"
      "\n"
      "Trials that succeeded, diverged or have not ended are never touched, "
      "nor are\nothers than those named. Tries count anew.\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("target", options->targets,
                       "ids of sweeps, cells or trials, or unique prefixes of "
                       "sweeps' names")
            ->option_text("TARGET...")
            ->required();
        app.add_flag("--failed", options->failed,
                     "trials that failed (so without a choice)");
        app.add_flag("--cancelled", options->cancelled,
                     "trials that were cancelled, begun or not");
        app.add_flag("--all-unfinished", options->all_unfinished,
                     "both: whatever ended without a result");
        return [options](Context& context) { return Retry(context, *options); };
      }};
}

}  // namespace leadline::cli
