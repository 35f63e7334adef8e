// Tells a trainer that hangs from one that is slow, by its own pace: never by
// how long it has run.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace leadline::agent {

/// What a trainer does, as its machine sees it.
struct Activity {
  int64_t event_bytes = 0;  // size of its event file
  double cpu_seconds = 0;   // used so far by all its threads
  bool is_stopped = false;  // by SIGSTOP, job control or a debugger
  std::string waits;        // what it says it waits for; empty: nothing
};

struct HangPolicy {
  /// Never less than this without a record, however quick it was before.
  std::chrono::milliseconds least{600'000};
};

/// Owned by one thread; time is passed in. The time during which nobody looked
/// does not count.
class Pace {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  Pace(HangPolicy policy, SteadyTime now) : policy_(policy), looked_at_(now) {}

  /// The trainer starts now.
  void Begin(SteadyTime now) { looked_at_ = now; }

  /// True if it is worth looking again.
  bool IsDue(SteadyTime now) const;

  void See(const Activity& activity, SteadyTime now);

  /// It was known to wait so long between two records before.
  void NoteWait(std::chrono::milliseconds wait);

  /// Why it must be taken to hang: it wrote no record for ten times its longest
  /// wait so far and at least `least`, and used no processor time; or for six
  /// times that, whatever it used. Null while it may go on.
  std::optional<std::string> WhyHung() const;

  bool is_stopped() const { return last_.is_stopped; }
  const std::string& waits() const { return last_.waits; }

 private:
  std::chrono::milliseconds Limit() const;

  HangPolicy policy_;
  SteadyTime looked_at_;
  Activity last_;
  std::chrono::milliseconds silent_{0};
  std::chrono::milliseconds longest_wait_{0};
  double cpu_at_record_ = 0;
};

}  // namespace leadline::agent
