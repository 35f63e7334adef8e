#include "coordinator/rpc/explanation_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/experiment.h"

namespace leadline::rpc {
namespace {

std::string Counted(int64_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string WithReason(std::string text, const std::string& reason) {
  if (!reason.empty()) text += ": " + reason;
  return text;
}

std::string Place(const v1::LiveAttemptNow& live) {
  std::string devices = live.device();
  if (devices.empty()) {
    for (const std::string& device : live.devices()) {
      devices += (devices.empty() ? "" : ", ") + device;
    }
  }
  return live.node() + " (" + devices + ")";
}

std::string SecondsText(double seconds) {
  return std::to_string(std::lround(std::ceil(std::max(seconds, 0.0)))) + " s";
}

std::string LiveText(const v1::TrialExplanation& trial) {
  const v1::LiveAttemptNow& live = trial.live();
  if (live.state() == Name(TrialState::kUnreachable)) {
    return "node " + live.node() + " is not heard; given up in " +
           SecondsText(live.given_up_in_seconds()) +
           " unless it comes back, and then tried again";
  }
  std::string text;
  if (live.state() == Name(TrialState::kLeased)) {
    text = WithReason(
        "given to " + Place(live) + ", its trainer was not heard yet",
        live.waiting_for());
  } else {
    text = "trains on " + Place(live) + ", step " +
           std::to_string(live.step()) + " of " + std::to_string(live.steps());
  }
  if (!live.stop_reason().empty()) {
    text += "; asked to stop: " + live.stop_reason();
  }
  return text;
}

std::string SucceededText(const v1::TrialExplanation& trial) {
  if (!trial.has_result()) return "succeeded";
  char loss[32];
  std::snprintf(loss, sizeof loss, "%.6g", trial.result().validation_loss());
  return "succeeded in attempt " + trial.result_attempt() +
         ": validation loss " + loss + " " + trial.result().unit();
}

std::string CancelledText(const v1::TrialExplanation& trial) {
  return WithReason(trial.began() ? "cancelled" : "cancelled before it began",
                    trial.reason()) +
         "; leadline retry " + trial.trial() + " --cancelled queues it again";
}

int64_t CountOf(const v1::SweepExplanation& sweep, TrialState state) {
  const auto found = sweep.trials().find(std::string(Name(state)));
  return found == sweep.trials().end() ? 0 : found->second;
}

std::string HowToRetry(const v1::SweepExplanation& sweep) {
  std::string text;
  const std::string command = "leadline retry " + sweep.sweep();
  const int64_t failed = CountOf(sweep, TrialState::kFailed);
  const int64_t cancelled = CountOf(sweep, TrialState::kCancelled);
  if (failed > 0) {
    text += "; " + command + " queues the " + std::to_string(failed) +
            " again that failed";
  }
  if (cancelled > 0) {
    text += "; " + command + " --cancelled the " + std::to_string(cancelled) +
            " that were cancelled";
  }
  return text;
}

}  // namespace

std::string SummaryOf(const v1::SweepExplanation& sweep,
                      const std::string& waiting_for) {
  const auto state = ParseSweepState(sweep.state());
  if (state == SweepState::kComplete || state == SweepState::kCancelled) {
    return "all trials have ended" + HowToRetry(sweep);
  }
  if (!waiting_for.empty()) return waiting_for + HowToRetry(sweep);
  const int64_t live = sweep.running_size() + sweep.running_left_out();
  return Counted(live, "live attempt") + HowToRetry(sweep);
}

std::string SummaryOf(const v1::TrialExplanation& trial) {
  switch (ParseTrialState(trial.state()).value_or(TrialState::kQueued)) {
    case TrialState::kQueued:
      return WithReason("waits", trial.waiting_for());
    case TrialState::kSuspended:
      return WithReason("was stopped and waits", trial.waiting_for());
    case TrialState::kLeased:
    case TrialState::kRunning:
    case TrialState::kUnreachable:
      return trial.has_live() ? LiveText(trial) : trial.reason();
    case TrialState::kSucceeded:
      return SucceededText(trial);
    case TrialState::kDiverged:
      return WithReason("diverged, which is a result and no failure",
                        trial.reason());
    case TrialState::kFailed:
      return WithReason("failed after " + Counted(trial.attempts_size() +
                                                      trial.attempts_left_out(),
                                                  "attempt"),
                        trial.reason()) +
             "; leadline retry " + trial.trial() + " queues it again";
    case TrialState::kCancelled:
      return CancelledText(trial);
  }
  return "";
}

}  // namespace leadline::rpc
