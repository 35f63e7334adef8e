#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/checkpoint_target.h"
#include "cli/commands/commands.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "common/human_number.h"
#include "common/ids.h"
#include "worker/checkpoint/checkpoint.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string trial;
  bool verify = false;
};

/// "here", or with --verify "whole" or what is wrong.
std::string Verified(const FoundCheckpoint& one, bool verify) {
  if (!verify || one.state != "here") return one.state;
  const absl::Status status = Guarded(one.folder, [&] {
    checkpoint::Checkpoint(one.folder).Verify();
    return absl::OkStatus();
  });
  return status.ok() ? "whole" : "damaged: " + std::string(status.message());
}

Json RowJson(const FoundCheckpoint& one, const std::string& state) {
  return {{"step", one.step}, {"bytes", one.bytes},
          {"state", state},   {"attempt", one.attempt},
          {"node", one.node}, {"folder", one.folder}};
}

absl::Status Checkpoints(Context& context, const Options& options) {
  if (!ParseTrialId(options.trial).has_value()) {
    return absl::InvalidArgumentError(fmt::format(
        "'{}' is no trial: expected an id like s1.3.0", options.trial));
  }
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto all = FindCheckpoints(**connection, options.trial);
  if (!all.ok()) return all.status();
  const Style& style = context.output.out();
  Table table{{{"STEP", Align::kRight},
               {"SIZE", Align::kRight},
               {"STATE"},
               {"ATTEMPT"},
               {"NODE"},
               {"FOLDER"}},
              {}};
  Json rows = Json::array();
  for (const FoundCheckpoint& one : all->found) {
    const std::string state = Verified(one, options.verify);
    rows.push_back(RowJson(one, state));
    table.rows.push_back({Grouped(one.step), HumanBytes(one.bytes),
                          style.Clean(state), one.attempt,
                          style.Clean(one.node), style.Clean(one.folder)});
  }
  if (!all->unread.empty()) {
    context.output.Note("not all are known: " + all->unread);
  }
  if (context.output.json()) {
    context.output.PrintJson(
        {{"trial", options.trial}, {"seed", all->seed}, {"checkpoints", rows}});
  }
  context.output.Print(
      all->found.empty()
          ? fmt::format("{} has written no checkpoint\n", options.trial)
          : Render(table, style));
  return absl::OkStatus();
}

}  // namespace

Command CheckpointsCommand() {
  return {"checkpoints", "what a trial has kept of its training, and where",
          "  leadline checkpoints s1.3.0            # of all its attempts\n"
          "  leadline checkpoints s1.3.0 --verify   # reads and hashes those "
          "on this machine\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("trial", options->trial, "id of a trial")
                ->option_text("TRIAL")
                ->required();
            app.add_flag("--verify", options->verify,
                         "read every byte of those on this machine");
            return [options](Context& context) {
              return Checkpoints(context, *options);
            };
          }};
}

}  // namespace leadline::cli
