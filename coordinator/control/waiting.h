// Which waiting cohorts could start if there were devices, and what the others
// wait for.

#pragma once

#include <string>

#include "coordinator/control/step.h"

namespace leadline::control {

inline constexpr char kNobodyWantsWork[] =
    "no command waits for it: `leadline run` or `leadline submit --wait` "
    "trains it";

/// Puts each cohort that has moved where it belongs, as well as those whose
/// time has come and those of which a node still holds something.
void SortIn(Step& step);

/// Why a cohort that waits was not placed the last time.
struct Deferred {
  std::string reason;  // empty: it does not wait
  bool infeasible = false;
};

Deferred DeferralOf(const State& state, const Cohort& cohort);

}  // namespace leadline::control
