#include <utility>

#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/log_reader.h"
#include "cli/log_walk.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

// What one document holds; --offset goes on.
constexpr size_t kMostInDocument = size_t{16} << 20;

struct Options {
  std::string trial;
  int64_t attempt = 0;
  int64_t rank = 0;
  std::string stream = "stderr";
  bool is_stdout = false;
  bool is_stderr = false;
  bool events = false;
  bool all = false;
  bool follow = false;
  int64_t tail = 0;
  int64_t offset = 0;
};

LogPlace PlaceOf(const Options& options) {
  return {options.trial,  options.attempt, options.stream,
          options.offset, options.tail,    options.rank};
}

absl::Status PrintDocument(Output& output, Connection& connection,
                           const Options& options) {
  std::string text;
  const auto end = ReadLog(connection, PlaceOf(options),
                           [&](std::string_view bytes, int64_t) {
                             text += bytes;
                             return text.size() < kMostInDocument;
                           });
  if (!end.ok()) return end.status();
  output.PrintJson({{"trial", options.trial},
                    {"attempt", end->attempt},
                    {"stream", options.stream},
                    {"text", text},
                    {"next_offset", end->offset},
                    {"complete", end->is_complete}});
  return absl::OkStatus();
}

absl::Status Logs(Context& context, Options options) {
  if (options.is_stdout) options.stream = "stdout";
  if (options.is_stderr) options.stream = "stderr";
  if (options.events) options.stream = "events";
  Output& output = context.output;
  if (output.json() && (options.follow || options.all)) {
    return At(absl::InvalidArgumentError(
                  "--json is one document of one attempt: without --follow and "
                  "--all"),
              "arguments");
  }
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  if (output.json()) return PrintDocument(output, **connection, options);
  if (options.follow || options.all) {
    return WalkLogs(output, **connection,
                    {PlaceOf(options), options.all, options.follow});
  }
  LogPrinter printer(output);
  const auto end = ReadLog(
      **connection, PlaceOf(options),
      [&](std::string_view bytes, int64_t) { return printer.Add(bytes); });
  if (!end.ok()) return end.status();
  printer.Finish();
  if (!printer.has_printed()) output.Note("nothing was written");
  return absl::OkStatus();
}

void Declare(CLI::App& app, Options& options) {
  app.add_option("trial", options.trial, "id, like s1.3.0")
      ->option_text("TRIAL")
      ->required();
  auto* attempt = app.add_option("--attempt", options.attempt,
                                 "number of the attempt (default: the last)")
                      ->option_text("N")
                      ->check(flags::WholeNumber(1, 1000000000));
  app.add_option("--rank", options.rank,
                 "of an attempt of several ranks (default: 0, whose event file "
                 "is the record)")
      ->option_text("K")
      ->check(flags::WholeNumber(0, 1023));
  app.add_flag("--all", options.all,
               "every attempt in order, each with a heading line")
      ->excludes(attempt);
  app.add_flag("-f,--follow", options.follow,
               "what is written from now on too, of this attempt and the next "
               "ones, until the trial has ended");
  auto* stream =
      app.add_option("--stream", options.stream,
                     "stdout, stderr (the default) or events, the event file")
          ->option_text("NAME")
          ->check(flags::OneOf({"stdout", "stderr", "events"}))
          ->capture_default_str();
  auto* out = app.add_flag("--stdout", options.is_stdout, "--stream stdout");
  auto* err = app.add_flag("--stderr", options.is_stderr, "--stream stderr");
  auto* events = app.add_flag("--events", options.events, "--stream events");
  out->excludes(err)->excludes(events)->excludes(stream);
  err->excludes(events)->excludes(stream);
  events->excludes(stream);
  auto* tail = app.add_option("--tail", options.tail,
                              "the last lines alone, of each attempt")
                   ->option_text("LINES")
                   ->check(flags::WholeNumber(1, 1000000000));
  app.add_option("--offset", options.offset, "bytes to leave out")
      ->option_text("BYTES")
      ->check(flags::WholeNumber(0, int64_t{1} << 60))
      ->excludes(tail);
}

}  // namespace

Command LogsCommand() {
  return {"logs", "what a trial's trainer wrote",
          "  leadline logs s1.3.0                 # standard error, last "
          "attempt\n"
          "  leadline logs s1.3.0 -f --tail 20    # its end, and what comes\n"
          "  leadline logs s1.3.0 --all --stream stdout\n"
          "  leadline logs s1.3.0 --events --attempt 1\n"
          "  leadline logs s1.3.0 --rank 3        # where devices is above 1\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            Declare(app, *options);
            return
                [options](Context& context) { return Logs(context, *options); };
          }};
}

}  // namespace leadline::cli
