#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/follow.h"
#include "cli/progress_line.h"
#include "cli/submit_sweep.h"
#include "cli/sweep_rows.h"

namespace leadline::cli {
namespace {

struct Options {
  SubmitOptions submit;
  bool wait = false;
  int64_t give_up_s = kGiveUp.count();
  int64_t patience_s = kPatience.count();
  bool strict = false;
};

Json SubmittedJson(const v1::SubmitReply& reply) {
  return {{"sweep", reply.sweep()},       {"name", reply.name()},
          {"existing", reply.existing()}, {"cells", reply.cells()},
          {"trials", reply.trials()},     {"duplicates", reply.duplicates()}};
}

absl::Status Wait(Context& context, Connection& connection, Json document,
                  const std::string& sweep, const Options& options) {
  const auto last =
      Follow(context, connection, sweep,
             {.give_up = std::chrono::seconds(options.give_up_s),
              .patience = std::chrono::seconds(options.patience_s)});
  if (!last.ok()) return last.status();
  document["progress"] = ProgressJson(*last);
  if (context.output.json()) context.output.PrintJson(document);
  const std::string warning = DivergedWarning(*last);
  if (!warning.empty()) context.output.Note(warning);
  context.output.Print(
      fmt::format("leadline results {} prints the table\n", sweep));
  return Verdict(*last, options.strict);
}

absl::StatusOr<std::string> WhatIsNext(Context& context, Connection& connection,
                                       const v1::SubmitReply& reply,
                                       const Options& options) {
  if (reply.existing()) {
    const auto sweep = FetchSweep(connection, reply.sweep());
    if (!sweep.ok()) return sweep.status();
    if (sweep->state() == "complete" || sweep->state() == "cancelled") {
      return fmt::format(
          "it is {}: leadline results {} prints the table, --new makes another "
          "sweep\n",
          sweep->state(), reply.sweep());
    }
  }
  return fmt::format("leadline run {} trains it\n",
                     context.output.out().Clean(options.submit.file));
}

absl::Status Submit(Context& context, const Options& options) {
  const auto request = SubmitRequestOf(options.submit);
  if (!request.ok()) return request.status();
  const auto connection = context.Connect(options.wait);
  if (!connection.ok()) return connection.status();
  const auto reply = SubmitSweep(**connection, *request);
  if (!reply.ok()) return reply.status();
  context.output.Print(SubmittedLine(*reply, context.output.out()) + "\n");
  if (options.wait) {
    return Wait(context, **connection, SubmittedJson(*reply), reply->sweep(),
                options);
  }
  if ((*connection)->coordinator().is_private()) {
    const auto next = WhatIsNext(context, **connection, *reply, options);
    if (!next.ok()) return next.status();
    context.output.Print(*next);
  }
  if (context.output.json()) context.output.PrintJson(SubmittedJson(*reply));
  return absl::OkStatus();
}

}  // namespace

Command SubmitCommand() {
  return {
      "submit", "store a sweep for the coordinator to train",
      "  leadline submit sweep.yaml --coordinator 127.0.0.1:7070\n"
      "  leadline submit sweep.yaml --wait    # exit code 3 if trials "
      "failed\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        AddSubmitOptions(app, &options->submit);
        app.add_flag("--wait", options->wait, "follow it until it has ended");
        constexpr char kWhen[] = "with --wait: ";
        AddGiveUp(app, &options->give_up_s, kWhen);
        AddPatience(app, &options->patience_s, kWhen);
        app.add_flag("--strict", options->strict,
                     "with --wait: diverged trials count as failed in the "
                     "exit code");
        return
            [options](Context& context) { return Submit(context, *options); };
      }};
}

}  // namespace leadline::cli
