// The figures that decide how long to wait and how often to try. What differs
// by the kind of a failure is in failure_policy.h.

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
  int64_t tries = 3;  // failed attempts of a cohort in a row until it fails:
                      // one that gets further than any before begins anew
  int64_t tries_in_total = 8;  // however far they got; also how often a failure
                               // of one cohort is put down to nodes
  /// Of a cohort, within an hour, that use up no try: after a lost agent or a
  /// full disk. Further ones come one by one.
  int64_t free_restarts = 20;
  int64_t quarantine_after = 3;      // failures in a row on a node; 0: never
  Seconds first_quarantine{5};       // until a canary; doubled at each failure
  Seconds longest_quarantine{1800};  // of these waits
  /// Ranks that end because others are gone are believed after that long: the
  /// first cause may be told meanwhile.
  Seconds cause_patience{5};
  /// Trials that one step moves for people or a limit of failures: what asks
  /// for more is done in several.
  int64_t most_moves = 2000;
  /// Training on for that long after its first step speaks for a node.
  Seconds vouches_after{60};
};

}  // namespace leadline::control
