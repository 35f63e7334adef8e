#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"

namespace leadline::cli {
namespace {

struct Options {
  std::string trial;
  int64_t attempt = 0;
  bool is_stdout = false;
  bool is_stderr = false;
  bool events = false;
};

std::string StreamOf(const Options& options) {
  if (options.is_stdout) return "stdout";
  return options.events ? "events" : "stderr";
}

// Prints whole lines, escaped: a trainer's output must not drive the reader's
// terminal, and a chunk may end within a character.
class LinePrinter {
 public:
  explicit LinePrinter(Output& output) : output_(output) {}

  void Add(const std::string& bytes) {
    pending_ += bytes;
    const size_t end = pending_.rfind('\n');
    if (end != std::string::npos) Print(end + 1);
    if (pending_.size() > kLongestLine) Print(pending_.size());
  }
  void Finish() { Print(pending_.size()); }

 private:
  static constexpr size_t kLongestLine = 1 << 20;

  void Print(size_t bytes) {
    output_.Raw(
        PrintableLines(pending_.substr(0, bytes), output_.out().charset));
    pending_.erase(0, bytes);
  }

  Output& output_;
  std::string pending_;
};

absl::Status Logs(Context& context, const Options& options) {
  const auto connection = context.Connect();
  if (!connection.ok()) return connection.status();
  v1::LogRequest request;
  request.set_trial(options.trial);
  request.set_attempt(options.attempt);
  request.set_stream(StreamOf(options));
  Output& output = context.output;
  LinePrinter lines(output);
  std::string text;
  std::string attempt;
  bool is_empty = true;
  const auto start = [&](grpc::ClientContext* call, auto* reactor) {
    (*connection)->results().async()->ReadLog(call, &request, reactor);
  };
  const auto take = [&](const v1::LogChunk& chunk) {
    attempt = chunk.attempt();
    is_empty = is_empty && chunk.data().empty();
    if (output.json()) {
      text += chunk.data();
    } else if (output.out().is_terminal) {
      lines.Add(chunk.data());
    } else {
      output.Raw(chunk.data());
    }
    return absl::OkStatus();
  };
  absl::Status status = (*connection)->ReadAll<v1::LogChunk>(start, take);
  if (!status.ok()) return status;
  lines.Finish();
  if (output.json()) {
    output.PrintJson({{"trial", options.trial},
                      {"attempt", attempt},
                      {"stream", StreamOf(options)},
                      {"text", text}});
  } else if (is_empty) {
    output.Note("nothing was written");
  }
  return absl::OkStatus();
}

}  // namespace

Command LogsCommand() {
  return {"logs", "what a trial's trainer wrote",
          "  leadline logs s1.3.0                 # standard error, last "
          "attempt\n"
          "  leadline logs s1.3.0 --events --attempt 1\n",
          [](CLI::App& app) -> Action {
            auto options = std::make_shared<Options>();
            app.add_option("trial", options->trial, "id, like s1.3.0")
                ->option_text("TRIAL")
                ->required();
            app.add_option("--attempt", options->attempt,
                           "number of the attempt (default: the last)")
                ->option_text("N")
                ->check(CLI::Range(int64_t{1}, int64_t{1000000000}));
            auto* out =
                app.add_flag("--stdout", options->is_stdout, "standard output");
            auto* err = app.add_flag("--stderr", options->is_stderr,
                                     "standard error (the default)");
            auto* events =
                app.add_flag("--events", options->events, "the event file");
            out->excludes(err)->excludes(events);
            err->excludes(events);
            return
                [options](Context& context) { return Logs(context, *options); };
          }};
}

}  // namespace leadline::cli
