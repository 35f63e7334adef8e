#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/log_reader.h"
#include "cli/numbers.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{500};
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

LogPlace PlaceOf(const Options& options, int64_t attempt) {
  return {options.trial,  attempt,      options.stream,
          options.offset, options.tail, options.rank};
}

int64_t NumberOf(const v1::AttemptSummary& attempt) {
  const size_t at = attempt.attempt().rfind('@');
  if (at == std::string::npos) return 0;
  return std::strtoll(attempt.attempt().c_str() + at + 1, nullptr, 10);
}

bool IsLive(const v1::AttemptSummary& attempt) {
  return attempt.ended_at().empty();
}

bool HasEnded(const v1::TrialSummary& trial) {
  return trial.state() == "succeeded" || trial.state() == "diverged" ||
         trial.state() == "failed" || trial.state() == "cancelled";
}

std::string HowItEnded(const v1::AttemptSummary& attempt) {
  if (IsLive(attempt)) return "running";
  return attempt.kind().empty()
             ? attempt.outcome()
             : fmt::format("{} ({})", attempt.outcome(), attempt.kind());
}

// The attempts of a trial one after the other, those to come too with --follow.
class Walk {
 public:
  Walk(Context& context, Connection& connection, const Options& options)
      : output_(context.output), connection_(connection), options_(options) {}

  absl::Status Run() {
    absl::Status status = Look();
    if (!status.ok()) return status;
    int64_t next = First();
    while (const v1::AttemptSummary* attempt = Await(next)) {
      next = NumberOf(*attempt);
      status = ShowOne(next);
      // Of all, those that can be read are shown.
      if (!status.ok() && !options_.all) return status;
      if (!status.ok()) Miss(next, status);
      ++next;
    }
    if (!look_.ok()) return look_;
    return Verdict();
  }

 private:
  absl::Status Look() {
    v1::TrialRequest request;
    request.set_trial(options_.trial);
    auto shown = connection_.Ask<v1::ShowTrialReply>(
        [&](grpc::ClientContext* context, auto* reply) {
          return connection_.results().ShowTrial(context, request, reply);
        });
    if (shown.ok()) shown_ = *std::move(shown);
    return shown.ok() ? absl::OkStatus() : shown.status();
  }

  int64_t First() const {
    if (options_.all) return 1;
    if (options_.attempt > 0) return options_.attempt;
    return shown_.attempts().empty() ? 1
                                     : NumberOf(*shown_.attempts().rbegin());
  }

  const v1::AttemptSummary* Find(int64_t number) const {
    for (const v1::AttemptSummary& attempt : shown_.attempts()) {
      if (NumberOf(attempt) >= number) return &attempt;
    }
    return nullptr;
  }

  /// The attempt of that number or the next one; null if there is none, and
  /// none to come that is waited for.
  const v1::AttemptSummary* Await(int64_t number) {
    bool is_told = false;
    while (Find(number) == nullptr) {
      if (!options_.follow || HasEnded(shown_.trial())) return nullptr;
      if (!std::exchange(is_told, true)) {
        output_.Note(fmt::format("{} is {}: waiting for attempt {}",
                                 options_.trial, shown_.trial().state(),
                                 number));
      }
      std::this_thread::sleep_for(kBetweenLooks);
      look_ = Look();
      if (!look_.ok()) return nullptr;
    }
    return Find(number);
  }

  absl::Status ShowOne(int64_t number) {
    Head(*Find(number));
    LogPlace place = PlaceOf(options_, number);
    LogPrinter printer(output_);
    while (true) {
      const v1::AttemptSummary* attempt = Find(number);
      const bool goes_on =
          options_.follow && attempt != nullptr && IsLive(*attempt);
      const auto end = ReadLog(connection_, place, [&](std::string_view bytes) {
        return printer.Add(bytes);
      });
      if (!end.ok()) return end.status();
      place.offset = end->offset;
      place.tail = 0;
      if (!goes_on) break;
      output_.Flush();
      std::this_thread::sleep_for(kBetweenLooks);
      if (absl::Status looked = Look(); !looked.ok()) return looked;
    }
    printer.Finish();
    output_.Flush();
    ++shown_attempts_;
    return absl::OkStatus();
  }

  void Head(const v1::AttemptSummary& attempt) {
    if (heads_++ > 0) output_.Print("\n");
    output_.Print(output_.out().Clean(fmt::format(
                      "==> {} {} on {}: {} <==", attempt.attempt(),
                      options_.stream, attempt.node(), HowItEnded(attempt))) +
                  "\n");
  }

  void Miss(int64_t number, const absl::Status& status) {
    ++missed_;
    missing_ = status;
    output_.Note(output_.err().Clean(fmt::format(
        "{}@{}: {}", options_.trial, number, std::string(status.message()))));
  }

  absl::Status Verdict() const {
    if (missed_ > 0 && shown_attempts_ == 0) return missing_;
    if (missed_ > 0) {
      return At(
          WithError(absl::DataLossError(fmt::format(
                        "of {} of {} the logs of {} could not be read",
                        Counted(heads_, "attempt"), options_.trial, missed_)),
                    ErrorOf(missing_)),
          options_.trial);
    }
    if (heads_ == 0) {
      return At(
          absl::NotFoundError(fmt::format(
              "trial {} has no attempt{}: it is {}", options_.trial,
              options_.attempt > 0 ? " " + std::to_string(options_.attempt)
                                   : "",
              shown_.trial().state())),
          options_.trial);
    }
    if (options_.follow) {
      output_.Note(fmt::format("{} has ended: {}", options_.trial,
                               shown_.trial().state()));
    }
    return absl::OkStatus();
  }

  Output& output_;
  Connection& connection_;
  const Options& options_;
  v1::ShowTrialReply shown_;
  absl::Status look_;
  absl::Status missing_;
  int64_t heads_ = 0;
  int64_t shown_attempts_ = 0;
  int64_t missed_ = 0;
};

absl::Status PrintDocument(Output& output, Connection& connection,
                           const Options& options) {
  std::string text;
  const auto end = ReadLog(connection, PlaceOf(options, options.attempt),
                           [&](std::string_view bytes) {
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
    return Walk(context, **connection, options).Run();
  }
  LogPrinter printer(output);
  const auto end =
      ReadLog(**connection, PlaceOf(options, options.attempt),
              [&](std::string_view bytes) { return printer.Add(bytes); });
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
                      ->check(CLI::Range(int64_t{1}, int64_t{1000000000}));
  app.add_option("--rank", options.rank,
                 "of an attempt of several ranks (default: 0, whose event file "
                 "is the record)")
      ->option_text("K")
      ->check(CLI::Range(int64_t{0}, int64_t{1023}));
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
          ->check(CLI::IsMember({"stdout", "stderr", "events"}))
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
                   ->check(CLI::Range(int64_t{1}, int64_t{1000000000}));
  app.add_option("--offset", options.offset, "bytes to leave out")
      ->option_text("BYTES")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 60))
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
