// Which nodes could hold a cohort: asked of the scheduler, so that there is one
// rule of what fits where.

#pragma once

#include <string>

#include "coordinator/control/step.h"
#include "coordinator/scheduler/schedule.h"

namespace leadline::control {

/// How long an agent that is not connected may yet come back.
SteadyTime::duration PatienceWithNodes(const Policy& policy);

/// The node as the scheduler sees it.
scheduler::NodeView ViewOf(const Node& node, SteadyTime now);

/// What the cohort asks of the scheduler.
scheduler::Demand DemandOf(const Step& step, const Cohort& cohort);

/// True if agents that were connected before may come back, and nobody knows
/// which.
bool MoreMayCome(const Step& step);

/// True if another connected node that nothing is held against could run the
/// cohort, and so tell whether this one is to blame.
bool HasComparison(const Step& step, const std::string& node,
                   const Cohort& cohort);

/// Why no node can hold the cohort after it has failed as it has; empty if one
/// can, or nobody knows yet: while agents are coming back.
std::string WhyHopeless(const Step& step, const Cohort& cohort);

}  // namespace leadline::control
