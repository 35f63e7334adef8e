#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/failed_kind.h"
#include "cli/numbers.h"
#include "cli/sweep_rows.h"
#include "cli/table.h"

namespace leadline::cli {
namespace {

constexpr size_t kNameWidth = 40;

struct Options {
  int64_t limit = 20;
  std::string failed_kind;
};

std::string ListText(const SweepList& list, const Options& options,
                     const Style& style) {
  if (list.total == 0) {
    return options.failed_kind.empty()
               ? "no sweeps yet\n"
               : fmt::format("no sweep has an attempt that failed so: {}\n",
                             options.failed_kind);
  }
  Table table{{{"sweep"}, {"name"}, {"state"}, {"submitted"}}, {}};
  for (const char* title : {"trials", "succeeded", "diverged", "running",
                            "queued", "failed", "cancelled"}) {
    table.columns.push_back({title, Align::kRight});
  }
  for (const v1::SweepSummary& sweep : list.sweeps) {
    table.rows.push_back(
        {sweep.sweep(),
         Shorten(style.Clean(sweep.name()), kNameWidth, style.charset),
         sweep.state(), sweep.submitted_at(), Grouped(sweep.trials()),
         Grouped(sweep.succeeded()), Grouped(sweep.diverged()),
         Grouped(sweep.running()), Grouped(sweep.queued()),
         Grouped(sweep.failed()), Grouped(sweep.cancelled())});
  }
  std::string text = Render(table, style);
  const auto shown = static_cast<int64_t>(list.sweeps.size());
  if (shown < list.total) {
    text += fmt::format("{} of {} sweeps; --limit shows more\n", Grouped(shown),
                        Grouped(list.total));
  }
  return text;
}

Json ListJson(const SweepList& list) {
  Json sweeps = Json::array();
  for (const auto& sweep : list.sweeps) sweeps.push_back(SweepJson(sweep));
  return {{"total", list.total}, {"sweeps", sweeps}};
}

absl::Status Ls(Context& context, const Options& options) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  const auto list =
      FetchSweeps(**connection, options.limit, options.failed_kind);
  if (!list.ok()) return list.status();
  if (context.output.json()) context.output.PrintJson(ListJson(*list));
  context.output.Print(ListText(*list, options, context.output.out()));
  return absl::OkStatus();
}

}  // namespace

Command LsCommand() {
  return {"ls", "list sweeps, newest first",
          "  leadline ls\n"
          "  leadline ls --limit 1000 --json\n"
          "  leadline ls --failed-kind oom        # sweeps in which memory ran "
          "out\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("--limit", options->limit,
                           "sweeps to list at most (default 20)")
                ->option_text("N")
                ->check(CLI::Range(int64_t{1}, int64_t{1000000}));
            AddFailedKind(app, &options->failed_kind);
            return
                [options](Context& context) { return Ls(context, *options); };
          }};
}

}  // namespace leadline::cli
