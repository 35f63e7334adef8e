#include "cli/follow.h"

#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "cli/progress_line.h"
#include "cli/progress_teller.h"
#include "errors/error_code.h"
#include "flags/values.h"

namespace leadline::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::seconds kSilence{15};
constexpr std::chrono::seconds kBetweenDials{1};

absl::Status Gone(const std::string& sweep, const Connection& connection,
                  const absl::Status& why) {
  return At(
      WithError(absl::UnavailableError(fmt::format(
                    "the coordinator at {} went away while {} ran ({}); what "
                    "it stored is kept, and the same command goes on with it",
                    connection.address(), sweep, std::string(why.message()))),
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

bool IsAway(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

class Follower {
 public:
  Follower(Context& context, Connection& connection, std::string sweep,
           const FollowOptions& options)
      : context_(context),
        connection_(connection),
        sweep_(std::move(sweep)),
        options_(options),
        teller_(context.output, options.lines_are_output) {}

  absl::StatusOr<v1::Progress> Run() {
    context_.interrupts.Defer();
    could_run_at_ = Clock::now();
    while (true) {
      const absl::Status ended = Watch();
      if (ended.ok()) return progress_;
      if (!absl::IsUnavailable(ended)) return ended;
      const absl::Status back = WaitUntilItIsBack(ended);
      if (!back.ok()) return back;
    }
  }

 private:
  /// OK at the end of the sweep; Unavailable if the coordinator has gone.
  absl::Status Watch() {
    v1::WatchRequest request;
    request.set_sweep(sweep_);
    Stream<v1::Progress> stream([&](grpc::ClientContext* call, auto* reactor) {
      connection_.sweeps().async()->Watch(call, &request, reactor);
    });
    auto heard_at = Clock::now();
    while (!context_.interrupts.happened()) {
      const StreamEvent event = stream.Next(&progress_, Clock::now() + kLook);
      const auto now = Clock::now();
      if (event == StreamEvent::kEnd) return WhyEnded(stream.status());
      if (event == StreamEvent::kMessage) {
        heard_at = now;
        can_run_ = progress_.can_run();
        teller_.Tell(progress_, now);
        if (progress_.ended()) return absl::OkStatus();
      } else {
        teller_.Tick(now);
      }
      if (can_run_) could_run_at_ = now;
      if (options_.give_up.count() > 0 &&
          now - could_run_at_ >= options_.give_up) {
        return NothingRuns(progress_, options_.give_up);
      }
      // A peer that vanished without a word is found by asking it something.
      if (now - heard_at > kSilence) {
        const absl::Status sign = connection_.AskForSign();
        if (IsAway(sign)) return absl::UnavailableError(sign.message());
        if (!sign.ok()) return sign;
        heard_at = Clock::now();
      }
    }
    return Interrupted(sweep_);
  }

  /// A stream that ends while its sweep has not was broken off.
  absl::Status WhyEnded(const grpc::Status& status) {
    if (status.ok()) return absl::UnavailableError("it ended the watch");
    absl::Status failure = connection_.Failure(status);
    if (!IsAway(failure)) return failure;
    return absl::UnavailableError(status.error_message());
  }

  /// A private coordinator does not come back by itself.
  absl::Status WaitUntilItIsBack(const absl::Status& why) {
    const auto lost_at = Clock::now();
    const bool may_come_back = !connection_.coordinator().is_private();
    if (may_come_back && options_.patience.count() > 0) {
      context_.output.Note(fmt::format(
          "the coordinator at {} went away; what runs goes on, and this "
          "command waits {} for it",
          connection_.address(), HumanDuration(options_.patience.count())));
    }
    auto dial_at = lost_at;
    while (may_come_back && Clock::now() - lost_at < options_.patience) {
      if (context_.interrupts.happened()) return Interrupted(sweep_);
      if (Clock::now() < dial_at) {
        std::this_thread::sleep_for(kLook);
        continue;
      }
      const absl::Status sign = connection_.AskForSign();
      if (sign.ok()) {
        context_.output.Note("it is back");
        could_run_at_ = Clock::now();
        return absl::OkStatus();
      }
      if (!IsAway(sign)) return sign;
      dial_at = Clock::now() + kBetweenDials;
    }
    return Gone(sweep_, connection_, why);
  }

  Context& context_;
  Connection& connection_;
  const std::string sweep_;
  const FollowOptions options_;
  ProgressTeller teller_;
  v1::Progress progress_;
  Clock::time_point could_run_at_;
  bool can_run_ = false;
};

}  // namespace

absl::StatusOr<v1::Progress> Follow(Context& context, Connection& connection,
                                    const std::string& sweep,
                                    const FollowOptions& options) {
  return Follower(context, connection, sweep, options).Run();
}

void AddGiveUp(CLI::App& app, int64_t* seconds, const std::string& when) {
  app.add_option("--give-up", *seconds,
                 fmt::format("{}seconds to wait while nothing can run; 0: for "
                             "ever (default {})",
                             when, kGiveUp.count()))
      ->option_text("SECONDS")
      ->check(flags::WholeNumber(0, kMostWait.count()));
}

void AddPatience(CLI::App& app, int64_t* seconds, const std::string& when) {
  app.add_option("--patience", *seconds,
                 fmt::format("{}seconds to wait for a shared coordinator that "
                             "went away; 0: none (default {})",
                             when, kPatience.count()))
      ->option_text("SECONDS")
      ->check(flags::WholeNumber(0, kMostWait.count()));
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
