// What fits where: which devices of which nodes would do for a cohort.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/scheduler/schedule.h"

namespace leadline::scheduler {

/// What a cohort asks of the nodes.
struct Need {
  bool accelerator = false;
  int64_t ranks = 1;
  int64_t each = 1;     // devices of a rank
  bool spread = false;  // over several nodes: none could hold it alone

  int64_t Devices() const { return ranks * each; }
};

/// What there is of both kinds of devices, free or taken: on the node that has
/// most, and on all of them. Accelerators are those of one type.
struct Totals {
  int64_t most_accelerators = 0;
  int64_t most_cpu_slots = 0;
  int64_t all_accelerators = 0;
  int64_t all_cpu_slots = 0;
  int64_t without_gangs = 0;  // nodes whose agents are too old for them
};

/// Of those nodes; `gangs`: of those alone that take several ranks.
Totals TotalsOf(const std::vector<NodeView>& nodes, bool gangs);

/// True if the node could hold all ranks, were all of its devices free.
bool CouldHold(const NodeView& node, const Need& need, const Demand& demand);

/// What the cohort asks for on these nodes, given their totals (those of gangs
/// for one of several ranks); null if they have not enough, free or taken.
std::optional<Need> NeedOf(const std::vector<NodeView>& nodes,
                           const Totals& totals, const Demand& demand);

/// True if the node could take some of the ranks of a need that is spread, and
/// all nodes together hold it.
bool CouldShare(const std::vector<NodeView>& nodes, const NodeView& node,
                const Need& need, const Demand& demand);

/// Free devices that a need that is spread could take.
struct FreeShare {
  int64_t devices = 0;
  int64_t nodes = 0;
};

/// Of the type that has most of them; closed nodes are not counted.
FreeShare FreeFor(const std::vector<NodeView>& nodes, const Need& need,
                  const Demand& demand);

/// Takes the devices for all ranks out of what is free; empty if they are not
/// there, and then nothing is taken.
std::vector<Part> TakeDevices(std::vector<NodeView>& nodes, const Need& need,
                              const Demand& demand);

}  // namespace leadline::scheduler
