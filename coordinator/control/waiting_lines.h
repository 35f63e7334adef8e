// Cohorts that wait, kept in order as they come and go: placement looks at the
// heads of lines, whatever their length.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/ids.h"
#include "coordinator/control/moment.h"
#include "coordinator/scheduler/schedule.h"

namespace leadline::control {

/// Cohorts of one sweep that ask for the same.
struct LineKey {
  SweepId sweep;
  scheduler::Demand demand;
  auto operator<=>(const LineKey&) const = default;
};

struct WaitingLine {
  std::set<CohortId> cohorts;  // never empty
  // Of the last placement, for people:
  std::string deferral;
  bool infeasible = false;  // no node that is there could hold them
};

using LineMap = std::map<LineKey, WaitingLine>;

/// Where a cohort has been put.
struct WaitingPlace {
  std::optional<LineMap::iterator> line;
  std::optional<SteadyTime> until;  // of `by_time`
  std::optional<SteadyTime> since;  // of `by_age`
  bool is_kept_back = false;
};

/// Not copied: cohorts refer to their lines.
struct WaitingLines {
  WaitingLines() = default;
  WaitingLines(WaitingLines&&) = default;
  WaitingLines& operator=(WaitingLines&&) = default;

  LineMap lines;
  /// Those that must wait whatever is free: for a time to pass, or for what is
  /// left of the attempt before to end.
  std::set<CohortId> kept_back;
  std::set<std::pair<SteadyTime, CohortId>> by_time;
  std::set<CohortId> for_an_end;
  /// How many of a sweep have waited since when.
  std::map<SweepId, std::map<SteadyTime, int64_t>> by_age;
  /// Something of them has moved since they were put where they are.
  std::vector<CohortId> moved;
};

}  // namespace leadline::control
