#include "coordinator/control/progress_publisher.h"

#include <string>

namespace leadline::control {
namespace {

bool HasEnded(SweepState state) {
  return state == SweepState::kComplete || state == SweepState::kCancelled;
}

}  // namespace

/// What was told last still holds; what control believes by now does not.
void ProgressPublisher::TellOfStandstill(const absl::Status& why) {
  for (const auto& [sweep, last] : published_) {
    if (HasEnded(last.report.state) || !sink_.IsWatched(sweep)) continue;
    ProgressReport report = last.report;
    report.can_run = false;
    report.tokens_per_second = 0;
    report.seconds_left.reset();
    report.waiting_for = "nothing can be stored: " + std::string(why.message());
    sink_.Publish(report);
    unpublished_.insert(sweep);  // so that its recovery is told
  }
}

void ProgressPublisher::Publish(const Control& control, SteadyTime now) {
  for (auto at = unpublished_.begin(); at != unpublished_.end();) {
    const SweepId sweep = *at;
    if (!sink_.IsWatched(sweep)) {
      published_.erase(sweep);
      at = unpublished_.erase(at);
      continue;
    }
    const auto known = control.state().sweeps.find(sweep);
    const auto last = published_.find(sweep);
    const bool too_soon =
        last != published_.end() && now - last->second.at < every_;
    if (too_soon && known != control.state().sweeps.end() &&
        !HasEnded(known->second.record.state)) {
      ++at;
      continue;
    }
    const auto report = control.Progress(sweep);
    if (report) {
      sink_.Publish(*report);
      published_[sweep] = {now, *report};
    }
    at = unpublished_.erase(at);
  }
}

}  // namespace leadline::control
