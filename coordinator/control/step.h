// One step of control while it is being computed: the state it moves and what
// it asks for.

#pragma once

#include <string>
#include <utility>

#include "coordinator/control/fold.h"
#include "coordinator/control/moment.h"
#include "coordinator/control/outcome.h"
#include "coordinator/control/policy.h"
#include "coordinator/control/state.h"

namespace leadline::control {

struct Step {
  State& state;
  const Policy& policy;
  Moment now;
  Outcome outcome;

  /// Asks for the change and goes on as if it were made.
  void Do(storage::Change change) {
    Fold(state, change);
    outcome.changes.push_back(std::move(change));
  }

  void Touch(SweepId sweep) { outcome.touched.insert(sweep); }

  void Move(const storage::TrialRecord& trial, TrialState to,
            std::string reason) {
    Touch(trial.id.cell.sweep);
    Do(storage::MoveTrial{trial.id, trial.state, to, std::move(reason)});
  }

  void Tell(SessionId session, Order order) {
    outcome.orders.push_back({session, std::move(order)});
  }
};

}  // namespace leadline::control
