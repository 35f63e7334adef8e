// What follows from each kind of failure: the one table of it.

#pragma once

#include "common/experiment.h"
#include "coordinator/control/moment.h"

namespace leadline::control {

/// Where another attempt may end better.
enum class RetryWhere {
  kNowhere,
  kAnywhere,
  kOnOtherNode,     // than those where it failed
  kWithMoreMemory,  // than it ran out of
};

/// What it says of the node it happened on.
enum class Blame {
  kNone,
  kWhenRepeated,  // several in a row, of more than one cohort: quarantine
  kAtOnce,        // one is enough
};

struct FailurePolicy {
  FailureKind kind = FailureKind::kCrash;
  RetryWhere retry = RetryWhere::kNowhere;
  bool uses_try = true;     // else one of the hour's free restarts
  Seconds first_backoff{};  // doubled at each failure in a row
  Seconds longest_backoff{};
  Blame blame = Blame::kNone;
};

const FailurePolicy& PolicyOf(FailureKind kind);

}  // namespace leadline::control
