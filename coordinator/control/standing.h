// What the end of an attempt does to the standing of its cohort: tries used up,
// how far it got, when the next one may start. All of it is stored with that
// end, so a restart of the coordinator changes no decision.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/control/step.h"

namespace leadline::control {

/// What is left of an attempt that has just ended.
struct EndedAttempt {
  AttemptKey key;
  std::string node;          // that it failed on; empty: nobody can tell
  int64_t step = 0;          // of training, the furthest
  int64_t memory_bytes = 0;  // of its devices together; 0: not known
  std::vector<std::string> nodes{};  // all it ran on
};

/// Notes that it failed so: a try, or a free restart, is used up.
void CountEnd(Step& step, const EndedAttempt& ended, FailureKind kind);

/// Gives the try back that the attempt used up, because its node is to blame;
/// unless the cohort has failed on too many nodes or was spared too often for
/// that to be believed.
void GiveBack(Step& step, const AttemptKey& attempt);

/// True if no try is left.
bool IsUsedUp(const Policy& policy, const storage::CohortRecord& cohort);

/// "failure 2 of 3 in a row, 4 of 8 in total"
std::string TriesText(const Policy& policy,
                      const storage::CohortRecord& cohort);

/// Sets when the cohort may start again and why not sooner. Rests on what is
/// stored alone; after a restart of the coordinator a wait begins anew.
void PutOff(const Policy& policy, Cohort& cohort, SteadyTime now);

}  // namespace leadline::control
