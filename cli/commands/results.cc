#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/results_format.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string sweep;
  std::string metric;
  std::string split;
  ResultsFormat format = ResultsFormat::kTable;
};

ResultsFormat FormatOf(const std::string& name) {
  if (name == "table") return ResultsFormat::kTable;
  if (name == "markdown") return ResultsFormat::kMarkdown;
  if (name == "csv") return ResultsFormat::kCsv;
  if (name == "json") return ResultsFormat::kJson;
  throw CLI::ValidationError(
      "--format", "'" + name + "', expected table, markdown, csv or json");
}

absl::Status Results(Context& context, const Options& options) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  v1::ResultsRequest request;
  request.set_sweep(options.sweep);
  request.set_metric(options.metric);
  request.set_split(options.split);
  const auto results = FetchResults(**connection, request);
  if (!results.ok()) return results.status();
  PrintResults(*results, options.format, context.output);
  return absl::OkStatus();
}

}  // namespace

Command ResultsCommand() {
  return {"results", "the table of a sweep: mean and sd over seeds",
          "  leadline results                     # of the newest sweep\n"
          "  leadline results s1 --format csv > s1.csv\n"
          "  leadline results s1 --metric test_loss --split test\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("sweep", options->sweep,
                           "id, or unique prefix of a name; without it the "
                           "newest")
                ->option_text("SWEEP");
            app.add_option("--metric", options->metric,
                           "which metric (default validation_loss)")
                ->option_text("NAME");
            app.add_option("--split", options->split,
                           "which split (default validation)")
                ->option_text("NAME");
            app.add_option_function<std::string>(
                   "--format",
                   [options](const std::string& name) {
                     options->format = FormatOf(name);
                   },
                   "table, markdown, csv or json")
                ->option_text("FORMAT");
            return [options](Context& context) {
              return Results(context, *options);
            };
          }};
}

}  // namespace leadline::cli
