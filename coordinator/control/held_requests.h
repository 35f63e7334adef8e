// Requests upon sweeps that are busy: new ones wait until they may be applied,
// others to be answered once all of what they asked for is done.

#pragma once

#include <deque>
#include <functional>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/outcome.h"
#include "coordinator/control/sinks.h"

namespace leadline::control {

/// That it may change. Empty of what asks, and of what agents say.
std::vector<SweepId> SweepsOf(const Command& command);

class HeldRequests {
 public:
  using IsBusy = std::function<bool(SweepId)>;

  /// True if it concerns a sweep that is busy.
  static bool MustWait(const Command& command, const IsBusy& is_busy);

  void Hold(Envelope envelope) { waiting_.push_back(std::move(envelope)); }
  bool IsEmpty() const { return waiting_.empty(); }
  /// Those that may be applied, or must be held again, in their order.
  std::deque<Envelope> Take();

  /// Of one that was applied.
  void HoldAnswer(Envelope applied, absl::StatusOr<Answer> answer);
  /// Answers those whose sweeps are busy no more.
  void AnswerDone(const IsBusy& is_busy);

  /// Answers all.
  void Refuse(const absl::Status& status);

 private:
  struct Unanswered {
    Envelope applied;
    absl::StatusOr<Answer> answer;
  };

  std::deque<Envelope> waiting_;
  std::deque<Unanswered> unanswered_;
};

}  // namespace leadline::control
