#include "cli/follow.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "cli/progress_line.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::seconds kBetweenLines{10};
constexpr std::chrono::seconds kLeastBetweenLines{1};
constexpr std::chrono::seconds kSilence{15};

// Prints progress as often as its channel bears it.
class Teller {
 public:
  Teller(Output& output, bool lines_are_output)
      : output_(output), lines_are_output_(lines_are_output) {}

  void Tell(const v1::Progress& progress) {
    for (const v1::TrialFailure& failure : progress.failures()) {
      output_.Note(FailureLine(failure, output_.err()));
    }
    last_ = progress;
    has_news_ = has_news_ || Counts(progress) != told_;
    Tick(Clock::now());
  }

  void Tick(Clock::time_point now) {
    if (!last_.has_value()) return;
    if (output_.err().is_terminal && !lines_are_output_) {
      output_.Status(Line());
      return;
    }
    const Clock::duration wait = has_news_ ? kLeastBetweenLines : kBetweenLines;
    const bool too_soon = told_at_.has_value() && now - *told_at_ < wait;
    if (too_soon && !last_->ended()) return;
    if (lines_are_output_) {
      output_.Print(output_.out().Clean(ProgressLine(*last_)) + "\n");
      output_.Flush();
    } else {
      output_.Note(Line());
    }
    told_at_ = now;
    told_ = Counts(*last_);
    has_news_ = false;
  }

 private:
  static std::map<std::string, int64_t> Counts(const v1::Progress& progress) {
    return {progress.trials().begin(), progress.trials().end()};
  }
  std::string Line() const { return output_.err().Clean(ProgressLine(*last_)); }

  Output& output_;
  bool lines_are_output_;
  std::optional<v1::Progress> last_;
  std::map<std::string, int64_t> told_;
  std::optional<Clock::time_point> told_at_;
  bool has_news_ = true;
};

absl::Status Gone(const std::string& sweep, const Connection& connection,
                  const std::string& why) {
  return At(
      WithError(absl::UnavailableError(fmt::format(
                    "the coordinator at {} went away while {} ran ({}); what "
                    "it stored is kept, and the same command goes on with it",
                    connection.address(), sweep, why)),
                ErrorCode::kUnreachable),
      connection.address());
}

absl::Status NothingRuns(const v1::Progress& progress,
                         std::chrono::seconds waited) {
  return At(
      WithError(absl::FailedPreconditionError(fmt::format(
                    "nothing of {} could run for {}: {}; the sweep is kept",
                    progress.sweep(), HumanDuration(waited.count()),
                    progress.waiting_for().empty() ? "no agent with a device "
                                                     "that fits"
                                                   : progress.waiting_for())),
                ErrorCode::kNothingCanRun),
      progress.sweep());
}

absl::Status Interrupted(const std::string& sweep) {
  return At(WithError(absl::CancelledError(
                          "interrupted; what is done is kept, and the same "
                          "command goes on with the rest"),
                      ErrorCode::kInterrupted),
            sweep);
}

// A peer that vanished without a word is found by asking it something small.
absl::Status AskForSign(Connection& connection) {
  v1::ListSweepsRequest request;
  request.set_limit(1);
  return connection
      .Ask<v1::ListSweepsReply>([&](grpc::ClientContext* context, auto* reply) {
        return connection.results().ListSweeps(context, request, reply);
      })
      .status();
}

}  // namespace

absl::StatusOr<v1::Progress> Follow(Context& context, Connection& connection,
                                    const std::string& sweep,
                                    const FollowOptions& options) {
  context.interrupts.Defer();
  v1::WatchRequest request;
  request.set_sweep(sweep);
  Stream<v1::Progress> stream([&](grpc::ClientContext* call, auto* reactor) {
    connection.sweeps().async()->Watch(call, &request, reactor);
  });
  Teller teller(context.output, options.lines_are_output);
  v1::Progress progress;
  auto heard_at = Clock::now();
  auto could_run_at = heard_at;
  bool can_run = false;
  while (!context.interrupts.happened()) {
    const StreamEvent event = stream.Next(&progress, Clock::now() + kLook);
    const auto now = Clock::now();
    if (event == StreamEvent::kEnd) {
      absl::Status status = FromGrpc(stream.status(), connection.address());
      if (!status.ok() && !absl::IsUnavailable(status)) return status;
      return Gone(sweep, connection, stream.status().error_message());
    }
    if (event == StreamEvent::kMessage) {
      heard_at = now;
      can_run = progress.can_run();
      teller.Tell(progress);
      if (progress.ended()) return progress;
    } else {
      teller.Tick(now);
    }
    if (can_run) could_run_at = now;
    if (options.give_up.count() > 0 && now - could_run_at >= options.give_up) {
      return NothingRuns(progress, options.give_up);
    }
    if (now - heard_at > kSilence) {
      const absl::Status sign = AskForSign(connection);
      if (!sign.ok())
        return Gone(sweep, connection, std::string(sign.message()));
      heard_at = Clock::now();
    }
  }
  return Interrupted(sweep);
}

absl::Status Verdict(const v1::Progress& last, bool strict) {
  const int64_t failed = CountOf(last, "failed");
  const int64_t diverged = CountOf(last, "diverged");
  const int64_t cancelled = CountOf(last, "cancelled");
  if (failed > 0 || (strict && diverged > 0)) {
    return At(
        WithError(absl::AbortedError(fmt::format(
                      "of {} {} failed and {} diverged; leadline explain {} "
                      "tells why{}",
                      Counted(last.planned(), "trial"), failed, diverged,
                      last.sweep(),
                      failed == 0 ? ""
                                  : fmt::format(", leadline retry {} queues "
                                                "what failed again",
                                                last.sweep()))),
                  ErrorCode::kTrialsFailed),
        last.sweep());
  }
  if (cancelled > 0) {
    return At(WithError(absl::AbortedError(fmt::format(
                            "{} of {} were cancelled; leadline retry {} "
                            "--cancelled queues them again",
                            cancelled, Counted(last.planned(), "trial"),
                            last.sweep())),
                        ErrorCode::kCancelled),
              last.sweep());
  }
  return absl::OkStatus();
}

std::string DivergedWarning(const v1::Progress& last) {
  const int64_t diverged = CountOf(last, "diverged");
  return diverged == 0 ? ""
                       : fmt::format("warning: {} of {} diverged", diverged,
                                     Counted(last.planned(), "trial"));
}

}  // namespace leadline::cli
