// The step function of the coordinator: a command and the time go in, changes
// to commit and orders to give come out. No threads, no clock, no input or
// output: whoever calls commits the changes before anything is acted on.

#pragma once

#include <map>
#include <optional>
#include <vector>

#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/moment.h"
#include "coordinator/control/outcome.h"
#include "coordinator/control/policy.h"
#include "coordinator/control/state.h"
#include "storage/store.h"

namespace leadline::control {

/// Owned by one thread. If changes it asked for cannot be committed, it knows
/// what is not so: throw it away and make another from the store.
class Control {
 public:
  /// Takes over the unfinished sweeps. `work_wanted`: place work from the
  /// start, and do not wait for a client to ask for it.
  static absl::StatusOr<Control> Make(
      Policy policy, bool work_wanted, SweepId next_sweep,
      const std::vector<storage::SweepContents>& unfinished, Moment now,
      const std::vector<storage::NodeRecord>& nodes = {});

  /// What Make has to say: live attempts are unreachable until their agents
  /// are back.
  Outcome Begin(Moment now);

  Outcome Apply(const Command& command, Moment now);

  /// A number that no other sweep gets from this one.
  SweepId TakeNumber();
  /// Likewise; that number, which another coordinator took.
  void KeepNumber(SweepId taken);

  /// Null if the sweep is not among those in memory.
  std::optional<ProgressReport> Progress(SweepId sweep) const;

  /// For tests and figures.
  const State& state() const { return state_; }

 private:
  explicit Control(Policy policy) : policy_(policy) {}

  void PutOffWhatWaits(SteadyTime now);

  Policy policy_;
  State state_;
};

}  // namespace leadline::control
