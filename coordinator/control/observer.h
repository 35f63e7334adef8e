// Who is told how control fares, for metrics and probes. It decides nothing.

#pragma once

#include <string>

#include "coordinator/control/moment.h"
#include "coordinator/control/overview.h"
#include "coordinator/control/tally.h"

namespace leadline::control {

/// Called on the thread of control alone; must not block.
class Observer {
 public:
  virtual ~Observer() = default;

  /// A turn is over that took so long. `refusal`: what the store says, and
  /// nothing goes on until it takes what it refused; empty if all is well.
  virtual void OnTurn(Moment now, Seconds took, const std::string& refusal) = 0;

  /// What a batch of steps counted, once it is committed.
  virtual void OnTally(const Tally& tally) = 0;

  /// Of what is committed, about every second.
  virtual void OnOverview(Overview overview) = 0;
};

}  // namespace leadline::control
