// Why a cohort waits, in words for people.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/scheduler/fitting.h"
#include "coordinator/scheduler/schedule.h"

namespace leadline::scheduler {

struct WhyDeferred {
  std::string reason;
  bool infeasible = false;
};

/// Of a demand that is not met by what is free on these nodes, which are in the
/// order of their names. Null `need`: nor would all of them do. `totals` are
/// those that it was found by.
WhyDeferred Explain(const std::vector<NodeView>& nodes, const Totals& totals,
                    const std::optional<Need>& need, const Demand& demand);

/// Of a cohort whose sweep has as many attempts as it may have.
std::string WaitsForLimit(const SweepLimit& limit);

}  // namespace leadline::scheduler
