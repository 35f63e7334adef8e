// Those who use the coordinator. Whatever they ask they ask under one request
// id until it is answered.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/outcome.h"
#include "script.h"
#include "sim_coordinator.h"

namespace leadline::simulation {

class People {
 public:
  People(Surroundings around, SimCoordinator& coordinator)
      : around_(around), coordinator_(coordinator) {}

  void Submit(const SweepPlan& plan, int64_t number);

  /// One of the sweeps that are not over, or one of its cells or trials. False
  /// if there is none.
  bool Cancel(int64_t which);

  /// The second command waits for the answer to the first, and for that long:
  /// nobody resumes what may be paused later.
  void PauseAndResume(SweepId sweep, bool stop, Duration time);
  void CancelAndRetry(SweepId sweep, int64_t which, Duration time);

  void Retry(SweepId sweep, bool cancelled);

  /// Asked again and again until it has ended, if it is there.
  void Remove(SweepId sweep);

  /// What was begun and is not done.
  int64_t unanswered() const { return unanswered_; }

 private:
  using Told = std::function<void(const absl::StatusOr<control::Answer>&)>;

  void Ask(control::Command command, Told told);
  std::string RequestId() { return "request" + std::to_string(++requests_); }

  Surroundings around_;
  SimCoordinator& coordinator_;
  int64_t unanswered_ = 0;
  int64_t requests_ = 0;
};

}  // namespace leadline::simulation
