#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/local_coordinator.h"
#include "cli/numbers.h"
#include "cli/results_format.h"
#include "cli/submit_sweep.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

constexpr std::chrono::seconds kEndTime{6};

struct Options {
  SubmitOptions submit;
  int64_t slots = 0;
  int64_t give_up_s = kGiveUp.count();
  int64_t patience_s = kPatience.count();
  bool strict = false;
  bool seed_table = false;
};

std::string SeedTable(const ResultsSet& results, const Style& style) {
  Table table{{{"trial"},
               {"dataset"},
               {"method"},
               {"depth", Align::kRight},
               {"seed", Align::kRight},
               {results.header.metric()}},
              {}};
  for (const v1::CellResult& cell : results.cells) {
    for (const v1::SeedValue& value : cell.values()) {
      table.rows.push_back(
          {value.trial(), style.Clean(cell.dataset()),
           style.Clean(cell.method()), std::to_string(cell.depth()),
           std::to_string(value.seed()), fmt::format("{}", value.value())});
    }
  }
  return "\n" + Render(table, style);
}

absl::Status PrintOutcome(Context& context, Connection& connection,
                          const std::string& sweep, bool seed_table) {
  v1::ResultsRequest request;
  request.set_sweep(sweep);
  const auto results = FetchResults(connection, request);
  if (!results.ok()) return results.status();
  PrintResults(*results, ResultsFormat::kTable, context.output);
  if (seed_table) {
    context.output.Print(SeedTable(*results, context.output.out()));
  }
  return absl::OkStatus();
}

absl::Status RunSweep(Context& context, Connection& connection,
                      const v1::SubmitRequest& request,
                      const Options& options) {
  const auto submitted = SubmitSweep(connection, request);
  if (!submitted.ok()) return submitted.status();
  context.output.Note(SubmittedLine(*submitted, context.output.err()));
  const auto last =
      Follow(context, connection, submitted->sweep(),
             {.give_up = std::chrono::seconds(options.give_up_s),
              .patience = std::chrono::seconds(options.patience_s)});
  if (!last.ok()) return last.status();
  absl::Status status =
      PrintOutcome(context, connection, submitted->sweep(), options.seed_table);
  if (!status.ok()) return status;
  const std::string warning = DivergedWarning(*last);
  if (!warning.empty()) context.output.Note(warning);
  return Verdict(*last, options.strict);
}

absl::Status Run(Context& context, const Options& options) {
  const auto request = SubmitRequestOf(options.submit);
  if (!request.ok()) return request.status();
  const auto connection = context.Connect(true, options.slots);
  if (!connection.ok()) return connection.status();
  absl::Status status = RunSweep(context, **connection, *request, options);
  const bool interrupted = ExitCodeOf(status) == ExitCode::kInterrupted;
  if ((*connection)->coordinator().is_private()) {
    if (interrupted) context.output.Note("ending the local trainers");
    if (!LeaveAndWait(**connection, kEndTime) && interrupted) {
      context.output.Note(
          "the local coordinator lives on: another command uses it");
    }
  }
  return status;
}

}  // namespace

Command RunCommand() {
  return {
      "run", "train a sweep, follow it, print the table",
      "  leadline run examples/quickstart.yaml\n"
      "  leadline run sweep.yaml --json > results.json\n"
      "  leadline run sweep.yaml      # again: goes on with what is left\n"
      "  leadline run sweep.yaml --new --slots 2\n",
      [](CLI::App& app) -> Action {
        auto options = std::make_shared<Options>();
        AddSubmitOptions(app, &options->submit);
        app.add_option("--slots", options->slots,
                       "trainers side by side on this machine (default: "
                       "one a core)")
            ->option_text("N")
            ->check(flags::WholeNumber(1, 1024));
        AddGiveUp(app, &options->give_up_s);
        AddPatience(app, &options->patience_s);
        app.add_flag("--strict", options->strict,
                     "diverged trials count as failed in the exit code");
        app.add_flag("--seed-table", options->seed_table, "also a row a trial");
        return [options](Context& context) { return Run(context, *options); };
      }};
}

}  // namespace leadline::cli
