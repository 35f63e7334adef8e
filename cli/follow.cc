#include "cli/follow.h"

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "cli/progress_line.h"
#include "cli/progress_teller.h"
#include "errors/error_code.h"
#include "flags/values.h"
#include "tls/transport_reason.h"

namespace leadline::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{100};
constexpr std::chrono::seconds kSilence{15};
constexpr std::chrono::seconds kAnswerTime{30};  // to a new call
constexpr std::chrono::seconds kBetweenDials{1};
// A dial that patience ends at once would never tell why nobody answers.
constexpr std::chrono::seconds kLastDial{5};

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

absl::Status IsAnother(const std::string& sweep, const v1::Progress& before,
                       const v1::Progress& now) {
  return At(
      WithError(absl::AbortedError(fmt::format(
                    "the coordinator came back with another database: there "
                    "{} is \"{}\" of {}, not \"{}\" of {}",
                    sweep, now.name(), Counted(now.planned(), "trial"),
                    before.name(), Counted(before.planned(), "trial"))),
                ErrorCode::kConflict),
      sweep);
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
      if (!lost_at_) lost_at_ = Clock::now();
      if (IsLostForGood()) return Gone(sweep_, connection_, ended);
      // Why a call was broken off is said to the next one.
      if (!std::exchange(was_broken_off_, false)) NoteLost();
      if (!Rest(kBetweenDials)) return Interrupted(sweep_);
    }
  }

 private:
  /// OK at the end of the sweep; Unavailable if the coordinator has gone.
  absl::Status Watch() {
    v1::WatchRequest request;
    request.set_sweep(sweep_);
    auto stream = Open(request);
    auto heard_at = Clock::now();
    bool was_heard = false;
    while (!context_.interrupts.happened()) {
      v1::Progress progress;
      const StreamEvent event = stream->Next(&progress, Clock::now() + kLook);
      const auto now = Clock::now();
      if (event == StreamEvent::kEnd) return WhyEnded(stream->status());
      if (event == StreamEvent::kMessage) {
        absl::Status taken = TakeIn(std::move(progress), now);
        if (!taken.ok() || progress_.ended()) return taken;
        heard_at = now;
        was_heard = true;
      }
      teller_.Tick(now);
      absl::Status wrong = CheckWaiting(now);
      if (!wrong.ok()) return wrong;
      if (now - heard_at <= (was_heard ? kSilence : kAnswerTime)) continue;
      if (!was_heard) return absl::UnavailableError("nothing is heard of it");
      // A peer that vanished without a word is found by asking it again.
      stream = Open(request);
      heard_at = now;
      was_heard = false;
    }
    return Interrupted(sweep_);
  }

  std::unique_ptr<Stream<v1::Progress>> Open(const v1::WatchRequest& request) {
    dialled_at_ = Clock::now();
    return std::make_unique<Stream<v1::Progress>>(
        [&](grpc::ClientContext* call, auto* reactor) {
          connection_.sweeps().async()->Watch(call, &request, reactor);
        });
  }

  absl::Status TakeIn(v1::Progress progress, Clock::time_point now) {
    // Another database may have given the id to another sweep.
    const bool is_same = progress.name() == progress_.name() &&
                         progress.planned() == progress_.planned();
    if (lost_at_ && !progress_.sweep().empty() && !is_same) {
      return IsAnother(sweep_, progress_, progress);
    }
    if (std::exchange(lost_at_, std::nullopt)) {
      if (std::exchange(is_told_, false)) context_.output.Note("it is back");
      could_run_at_ = now;
    }
    progress_ = std::move(progress);
    teller_.Tell(progress_, now);
    return absl::OkStatus();
  }

  /// For the coordinator, or while it is there for a device.
  absl::Status CheckWaiting(Clock::time_point now) {
    if (lost_at_) {
      const bool is_given_up =
          IsLostForGood() && now - dialled_at_ >= kLastDial;
      return is_given_up ? absl::UnavailableError("nothing is heard of it")
                         : absl::OkStatus();
    }
    if (progress_.can_run()) could_run_at_ = now;
    const bool is_too_long =
        options_.give_up.count() > 0 && now - could_run_at_ >= options_.give_up;
    return is_too_long ? NothingRuns(progress_, options_.give_up)
                       : absl::OkStatus();
  }

  /// A stream that ends while its sweep has not was broken off.
  absl::Status WhyEnded(const grpc::Status& status) {
    was_broken_off_ = !lost_at_ && IsBrokenOff(status);
    if (status.ok() || IsBrokenOff(status)) {
      return absl::UnavailableError("it broke off the call");
    }
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      return absl::UnavailableError(
          tls::TransportReason(status.error_message()));
    }
    return FromGrpc(status, connection_.address());
  }

  void NoteLost() {
    if (std::exchange(is_told_, true)) return;
    context_.output.Note(fmt::format(
        "the coordinator at {} went away; what runs goes on, and this "
        "command "
        "waits {} for it",
        connection_.address(), HumanDuration(options_.patience.count())));
  }

  /// A private coordinator does not come back by itself.
  bool IsLostForGood() const {
    return connection_.coordinator().is_private() ||
           Clock::now() - *lost_at_ >= options_.patience;
  }

  /// False if an interrupt came meanwhile.
  bool Rest(std::chrono::milliseconds time) const {
    const auto until = Clock::now() + time;
    while (Clock::now() < until && !context_.interrupts.happened()) {
      std::this_thread::sleep_for(kLook);
    }
    return !context_.interrupts.happened();
  }

  Context& context_;
  Connection& connection_;
  const std::string sweep_;
  const FollowOptions options_;
  ProgressTeller teller_;
  v1::Progress progress_;
  Clock::time_point could_run_at_;
  Clock::time_point dialled_at_;
  std::optional<Clock::time_point> lost_at_;  // nothing was heard since
  bool was_broken_off_ = false;               // when that began
  bool is_told_ = false;                      // of that
};

void AddWait(CLI::App& app, const char* flag, int64_t* seconds,
             const std::string& help, std::chrono::seconds usual) {
  app.add_option(flag, *seconds,
                 fmt::format("{} (default {})", help, usual.count()))
      ->option_text("SECONDS")
      ->check(flags::WholeNumber(0, kMostWait.count()));
}

}  // namespace

absl::StatusOr<v1::Progress> Follow(Context& context, Connection& connection,
                                    const std::string& sweep,
                                    const FollowOptions& options) {
  return Follower(context, connection, sweep, options).Run();
}

void AddGiveUp(CLI::App& app, int64_t* seconds, const std::string& when) {
  AddWait(app, "--give-up", seconds,
          when + "seconds to wait while nothing can run; 0: for ever", kGiveUp);
}

void AddPatience(CLI::App& app, int64_t* seconds, const std::string& when) {
  AddWait(app, "--patience", seconds,
          when +
              "seconds to wait for a shared coordinator that went away, a few "
              "more for the last answer; 0: none",
          kPatience);
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
