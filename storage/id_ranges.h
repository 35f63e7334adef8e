// The least ids under a sweep, a cell or a cohort, to find its parts in ordered
// maps.

#pragma once

#include <limits>

#include "common/ids.h"

namespace leadline::storage {

inline constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

inline CellId FirstCell(SweepId sweep) { return {sweep, kLeast}; }
inline TrialId FirstTrial(CellId cell) { return {cell, kLeast}; }
inline TrialId FirstTrial(SweepId sweep) {
  return FirstTrial(FirstCell(sweep));
}
inline CohortId FirstCohort(SweepId sweep) {
  return {FirstCell(sweep), kLeast};
}
inline AttemptKey FirstAttempt(SweepId sweep) {
  return {FirstCohort(sweep), kLeast};
}
inline AttemptKey FirstAttempt(CohortId cohort) { return {cohort, kLeast}; }

}  // namespace leadline::storage
