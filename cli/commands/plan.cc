#include <limits>

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/plan_view.h"
#include "cli/sweep_file.h"

namespace leadline::cli {
namespace {

constexpr size_t kShortList = 100;

struct Options {
  std::string file;
  bool all = false;
  bool yes_really = false;
};

absl::Status Plan(Context& context, const Options& options) {
  auto request = ReadSweepFile(options.file);
  if (!request.ok()) return request.status();
  request->set_yes_really(options.yes_really);
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto plan = FetchPlan(**connection, *request);
  if (!plan.ok()) return plan.status();
  if (context.output.json()) {
    context.output.PrintJson(PlanJson(*plan));
    return absl::OkStatus();
  }
  const size_t most =
      options.all ? std::numeric_limits<size_t>::max() : kShortList;
  context.output.Print(RenderPlan(*plan, most, context.output.out()));
  return absl::OkStatus();
}

}  // namespace

Command PlanCommand() {
  return {
      "plan", "say what a sweep file would run; stores nothing",
      "  leadline plan sweep.yaml\n"
      "  leadline plan sweep.yaml --json      # exact numbers\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        app.add_option("file", options->file, "sweep file; - is standard input")
            ->option_text("FILE")
            ->required();
        app.add_flag("--all", options->all, "list all cells");
        app.add_flag("--yes-really", options->yes_really,
                     "accept more than 100,000 trials");
        return [options](Context& context) { return Plan(context, *options); };
      }};
}

}  // namespace leadline::cli
