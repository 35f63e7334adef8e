#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checkpoint_list.h"
#include "cli/commands/commands.h"
#include "cli/failed_kind.h"
#include "cli/figure_tables.h"
#include "cli/heat_map.h"
#include "cli/trial_view.h"
#include "common/ids.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

constexpr int64_t kShortList = 40;

struct Options {
  std::string target;
  bool config = false;
  bool routing = false;
  bool all = false;
  int64_t step = 0;
  std::string failed_kind;
};

absl::Status ShowConfig(Context& context, Connection& connection,
                        const Options& options) {
  v1::TrialRequest request;
  request.set_trial(options.target);
  const auto reply = connection.Ask<v1::TrainerConfigReply>(
      [&](grpc::ClientContext* call, v1::TrainerConfigReply* answer) {
        return connection.results().TrainerConfig(call, request, answer);
      });
  if (!reply.ok()) return reply.status();
  // Byte for byte what the trainer reads, with --json as without.
  context.output.Raw(reply->json());
  if (!reply->json().ends_with('\n')) context.output.Raw("\n");
  return absl::OkStatus();
}

absl::Status ShowRouting(Context& context, Connection& connection,
                         const Options& options) {
  v1::RoutingRequest request;
  request.set_trial(options.target);
  request.set_step(options.step);
  const auto reply = connection.Ask<v1::RoutingReply>(
      [&](grpc::ClientContext* call, v1::RoutingReply* answer) {
        return connection.results().Routing(call, request, answer);
      });
  if (!reply.ok()) return reply.status();
  if (context.output.json()) context.output.PrintJson(RoutingJson(*reply));
  context.output.Print(RenderHeatMap(*reply, context.output.out()) +
                       RenderFigures(*reply, context.output.out()));
  return absl::OkStatus();
}

absl::Status ShowTrial(Context& context, Connection& connection,
                       const Options& options) {
  v1::TrialRequest request;
  request.set_trial(options.target);
  const auto reply = connection.Ask<v1::ShowTrialReply>(
      [&](grpc::ClientContext* call, v1::ShowTrialReply* answer) {
        return connection.results().ShowTrial(call, request, answer);
      });
  if (!reply.ok()) return reply.status();
  const auto every = reply->settings().find("checkpoint_every");
  // Those of `auto` serve for going on alone, and are gone with the results.
  const bool keeps =
      every != reply->settings().end() && every->second.word() != "off" &&
      every->second.word() != "auto" && !reply->attempts().empty();
  // A node that is gone tells nothing, and hides nothing else.
  std::vector<CheckpointLine> checkpoints;
  absl::Status found = absl::OkStatus();
  if (keeps) {
    auto lines = FetchCheckpoints(connection, options.target);
    found = lines.status();
    if (lines.ok()) checkpoints = *std::move(lines);
  }
  if (context.output.json()) {
    Json json = TrialDetailsJson(*reply);
    json["checkpoints"] =
        found.ok() ? CheckpointsJson(checkpoints) : Json(nullptr);
    context.output.PrintJson(json);
  }
  const Style& style = context.output.out();
  std::string text = RenderTrial(*reply, style);
  if (keeps) {
    text += found.ok() ? RenderCheckpoints(checkpoints, style)
                       : fmt::format("checkpoints: not known, {}\n",
                                     style.Clean(std::string(found.message())));
  }
  context.output.Print(text);
  return absl::OkStatus();
}

// A cell, or a sweep with its row.
absl::Status ShowList(Context& context, Connection& connection,
                      const Options& options) {
  const bool all = options.all || context.output.json();
  const auto list = FetchTrials(connection, options.target,
                                all ? std::nullopt : std::optional(kShortList),
                                options.failed_kind);
  if (!list.ok()) return list.status();
  Json json = Json::object();
  std::string text;
  if (ParseCellId(options.target).has_value()) {
    json["cell"] = options.target;
  } else {
    const auto sweep = FetchSweep(connection, list->sweep);
    if (!sweep.ok()) return sweep.status();
    json = SweepJson(*sweep);
    text = RenderSweep(*sweep, context.output.out()) + "\n";
  }
  json["total"] = list->total;
  json["trial_list"] = TrialsJson(*list);
  if (context.output.json()) context.output.PrintJson(json);
  context.output.Print(text + RenderTrials(*list, context.output.out()));
  return absl::OkStatus();
}

absl::Status Show(Context& context, const Options& options) {
  const bool is_trial = ParseTrialId(options.target).has_value();
  if ((options.config || options.routing) && !is_trial) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' is no trial: --config and --routing take one, like "
                    "s1.3.0",
                    options.target));
  }
  if (!options.failed_kind.empty() && is_trial) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' is a trial: --failed-kind takes a sweep or a cell",
                    options.target));
  }
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  if (options.config) return ShowConfig(context, **connection, options);
  if (options.routing) return ShowRouting(context, **connection, options);
  if (is_trial) return ShowTrial(context, **connection, options);
  return ShowList(context, **connection, options);
}

}  // namespace

Command ShowCommand() {
  return {
      "show", "a sweep, cell or trial in full",
      "  leadline show s1                     # the sweep and its trials\n"
      "  leadline show s1 --failed-kind oom   # those that ran out of memory\n"
      "  leadline show s1.3.0                 # settings, result, attempts\n"
      "  leadline show s1.3.0 --routing       # where its routers look\n"
      "  leadline show s1.3.0 --config | leadline-trainer -\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("target", options->target,
                       "id of a sweep, cell or trial, or unique prefix of a "
                       "sweep's name")
            ->option_text("TARGET")
            ->required();
        auto* config = app.add_flag(
            "--config", options->config,
            "print the trainer's configuration of the trial's cohort");
        auto* routing =
            app.add_flag("--routing", options->routing,
                         "draw the trial's routing map and list its "
                         "figures");
        app.add_option("--step", options->step,
                       "with --routing: of that step (default: the last)")
            ->option_text("N")
            ->needs(routing)
            ->check(flags::WholeNumber(1, int64_t{1} << 40));
        app.add_flag("--all", options->all, "list all trials");
        AddFailedKind(app, &options->failed_kind)
            ->excludes(config)
            ->excludes(routing);
        config->excludes(routing);
        return [options](Context& context) { return Show(context, *options); };
      }};
}

}  // namespace leadline::cli
