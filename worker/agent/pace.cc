#include "worker/agent/pace.h"

#include <algorithm>
#include <cstdio>

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;

constexpr int kTimesLongestWait = 10;
// One that is busy may compute what takes long between two records; a
// collective that never ends is busy too.
constexpr int kTimesIfBusy = 6;
// Hearing renewals costs less.
constexpr double kIdleShare = 0.01;
constexpr milliseconds kLookEvery{1000};
constexpr milliseconds kLongestLook{10'000};

std::string InSeconds(milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s",
                static_cast<double>(time.count()) / 1000.0);
  return text;
}

}  // namespace

bool Pace::IsDue(SteadyTime now) const {
  return now - looked_at_ >= std::min(kLookEvery, policy_.least / 10);
}

void Pace::See(const Activity& activity, SteadyTime now) {
  const auto since = std::chrono::duration_cast<milliseconds>(now - looked_at_);
  silent_ += std::clamp(since, milliseconds(0), kLongestLook);
  looked_at_ = now;
  if (activity.event_bytes != last_.event_bytes) {
    NoteWait(silent_);
    silent_ = milliseconds(0);
    cpu_at_record_ = activity.cpu_seconds;
  }
  // What it waits for is no fault of its own, and no measure of its pace.
  if (!activity.waits.empty()) {
    silent_ = milliseconds(0);
    cpu_at_record_ = activity.cpu_seconds;
  }
  last_ = activity;
}

void Pace::NoteWait(milliseconds wait) {
  longest_wait_ = std::max(longest_wait_, wait);
}

milliseconds Pace::Limit() const {
  return std::max(policy_.least, longest_wait_ * kTimesLongestWait);
}

std::optional<std::string> Pace::WhyHung() const {
  const double used = last_.cpu_seconds - cpu_at_record_;
  const double seconds = static_cast<double>(silent_.count()) / 1000.0;
  const bool is_idle = used < kIdleShare * seconds;
  if (silent_ <= (is_idle ? Limit() : Limit() * kTimesIfBusy)) {
    return std::nullopt;
  }
  std::string why = "no record for " + InSeconds(silent_) +
                    "; its longest wait before was " + InSeconds(longest_wait_);
  if (last_.is_stopped) {
    why += "; the process is stopped (SIGSTOP, job control or a debugger)";
  } else if (is_idle) {
    why += "; it used no processor time";
  } else {
    why += "; it used " +
           InSeconds(milliseconds(static_cast<int64_t>(used * 1000))) +
           " of processor time";
  }
  return why;
}

}  // namespace leadline::agent
