#include "cli/log_walk.h"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/numbers.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{500};

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

// The log is not there, or its node; not the coordinator.
bool IsOfTheLog(const absl::Status& status) {
  const ErrorCode error = ErrorOf(status);
  return error == ErrorCode::kNotFound || error == ErrorCode::kNodeAway;
}

class Walk {
 public:
  Walk(Output& output, Connection& connection, const LogWalk& walk)
      : output_(output),
        connection_(connection),
        walk_(walk),
        trial_(walk.from.trial) {}

  absl::Status Run() {
    absl::Status status = Look();
    if (!status.ok()) return status;
    int64_t next = First();
    while (const v1::AttemptSummary* attempt = Await(next)) {
      next = NumberOf(*attempt);
      status = ShowOne(next);
      // Those that can be read are shown.
      if (!status.ok() && !IsOfTheLog(status) && !walk_.all) return status;
      if (!status.ok()) Miss(next, status);
      ++next;
    }
    return look_.ok() ? Verdict() : look_;
  }

 private:
  absl::Status Look() {
    v1::TrialRequest request;
    request.set_trial(trial_);
    auto shown = connection_.Ask<v1::ShowTrialReply>(
        [&](grpc::ClientContext* context, auto* reply) {
          return connection_.results().ShowTrial(context, request, reply);
        });
    if (!shown.ok()) return shown.status();
    shown_ = *std::move(shown);
    return absl::OkStatus();
  }

  int64_t First() const {
    if (walk_.all) return 1;
    if (walk_.from.attempt > 0) return walk_.from.attempt;
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
      if (!walk_.follow || HasEnded(shown_.trial())) return nullptr;
      if (!output_.is_writable()) return nullptr;
      if (!std::exchange(is_told, true)) {
        output_.Note(fmt::format("{} is {}: waiting for attempt {}", trial_,
                                 shown_.trial().state(), number));
      }
      std::this_thread::sleep_for(kBetweenLooks);
      look_ = Look();
      if (!look_.ok()) return nullptr;
    }
    return Find(number);
  }

  absl::Status ShowOne(int64_t number) {
    Head(*Find(number));
    LogPlace place = walk_.from;
    place.attempt = number;
    LogPrinter printer(output_);
    bool is_told = false;
    absl::Status status;
    while (true) {
      const v1::AttemptSummary* attempt = Find(number);
      const bool goes_on =
          walk_.follow && attempt != nullptr && IsLive(*attempt);
      status = ReadOn(place, printer);
      if (!goes_on || !output_.is_writable()) break;
      if (!status.ok() && !IsOfTheLog(status)) break;
      output_.Flush();
      const bool is_away =
          !status.ok() && ErrorOf(status) == ErrorCode::kNodeAway;
      if (is_away && !std::exchange(is_told, true)) TellWait(number, status);
      std::this_thread::sleep_for(kBetweenLooks);
      if (absl::Status looked = Look(); !looked.ok()) return looked;
    }
    printer.Finish();
    output_.Flush();
    if (status.ok()) ++shown_attempts_;
    return status;
  }

  /// What there is from `place` on, which is then behind what was printed.
  absl::Status ReadOn(LogPlace& place, LogPrinter& printer) {
    std::optional<int64_t> read_to;
    const auto end = ReadLog(connection_, place,
                             [&](std::string_view bytes, int64_t offset_after) {
                               read_to = offset_after;
                               return printer.Add(bytes);
                             });
    if (read_to) {
      place.offset = *read_to;
      place.tail = 0;
    }
    return end.ok() ? absl::OkStatus() : end.status();
  }

  void Head(const v1::AttemptSummary& attempt) {
    if (heads_++ > 0) output_.Print("\n");
    output_.Print(output_.out().Clean(fmt::format(
                      "==> {} {} on {}: {} <==", attempt.attempt(),
                      walk_.from.stream, attempt.node(), HowItEnded(attempt))) +
                  "\n");
    // The node may take its time.
    if (walk_.follow) output_.Flush();
  }

  void TellWait(int64_t number, const absl::Status& status) {
    output_.Note(output_.err().Clean(
        fmt::format("{}@{}: {}: waiting for it, or for the next attempt",
                    trial_, number, std::string(status.message()))));
  }

  void Miss(int64_t number, const absl::Status& status) {
    ++missed_;
    missing_ = status;
    output_.Note(output_.err().Clean(fmt::format(
        "{}@{}: {}", trial_, number, std::string(status.message()))));
  }

  absl::Status Verdict() const {
    if (missed_ > 0 && shown_attempts_ == 0) return missing_;
    if (missed_ > 0) {
      return At(WithError(absl::DataLossError(fmt::format(
                              "of {} of {} the logs of {} could not be read",
                              Counted(heads_, "attempt"), trial_, missed_)),
                          ErrorOf(missing_)),
                trial_);
    }
    if (heads_ == 0) {
      return At(
          absl::NotFoundError(fmt::format(
              "trial {} has no attempt{}: it is {}", trial_,
              walk_.from.attempt > 0 ? " " + std::to_string(walk_.from.attempt)
                                     : "",
              shown_.trial().state())),
          trial_);
    }
    if (walk_.follow) {
      output_.Note(
          fmt::format("{} has ended: {}", trial_, shown_.trial().state()));
    }
    return absl::OkStatus();
  }

  Output& output_;
  Connection& connection_;
  const LogWalk& walk_;
  const std::string& trial_;
  v1::ShowTrialReply shown_;
  absl::Status look_;
  absl::Status missing_;
  int64_t heads_ = 0;
  int64_t shown_attempts_ = 0;
  int64_t missed_ = 0;
};

}  // namespace

absl::Status WalkLogs(Output& output, Connection& connection,
                      const LogWalk& walk) {
  return Walk(output, connection, walk).Run();
}

}  // namespace leadline::cli
