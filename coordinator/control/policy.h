// The figures that decide how long to wait and how often to try.

#pragma once

#include <cstdint>

#include "coordinator/control/moment.h"

namespace leadline::control {

struct Policy {
  Seconds lease{15};     // silence after which an attempt is unreachable
  Seconds heartbeat{3};  // how often an agent speaks
  /// After the lease, until its trials are queued again. Half a lease (an agent
  /// takes no older answer for a renewal) and the grace together must exceed
  /// kTrainerSilence: else two attempts of one cohort would run.
  Seconds grace{30};
  int64_t tries = 3;         // failed attempts of a cohort until it fails
  Seconds first_backoff{2};  // doubled at each failure
  Seconds longest_backoff{60};
  /// Until what a full disk stopped is tried again, as often as need be.
  Seconds disk_wait{10};
};

}  // namespace leadline::control
