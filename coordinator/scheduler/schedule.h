// Which cohorts start, and where. Pure: no clock, no I/O, no randomness, so the
// same snapshot always gives the same plan. What a round costs follows what
// starts and how many different demands there are, not how many cohorts wait.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/ids.h"

namespace leadline::scheduler {

/// The type of a slot of CPU threads; every other type is an accelerator.
inline constexpr char kCpuType[] = "cpu";

/// The devices of one type on a node.
struct DeviceGroup {
  std::string type;
  std::vector<std::string> free;  // ids, in the order they are given out
  int64_t total = 0;
  int64_t memory_bytes = 0;  // of each; 0: not known
};

/// A node that is there.
struct NodeView {
  std::string name;
  std::vector<DeviceGroup> groups;
  std::string closed;         // why it takes no work; empty if it does
  bool takes_canary = false;  // one cohort though it is closed
  bool takes_gangs = true;    // its agent can hold some of several ranks
};

/// What a cohort waits for: all of its devices at once, an accelerator a rank,
/// all of one type, or `threads` CPU slots of one node a rank where there are
/// not accelerators enough.
struct Demand {
  int64_t ranks = 1;
  int64_t threads = 1;
  int64_t more_memory_than = 0;      // bytes of its devices together; 0: any
  std::vector<std::string> avoid{};  // nodes it gets if no other is free
  std::vector<std::string> never{};  // nodes it does not get
  auto operator<=>(const Demand&) const = default;
};

/// Cohorts of one sweep that wait for the same. Both outlive the round.
struct Line {
  SweepId sweep;
  int64_t priority = 0;  // of the sweep; higher goes first
  const Demand* demand = nullptr;
  const std::set<CohortId>* cohorts = nullptr;  // not empty
};

/// How many more attempts of a sweep may start.
struct SweepLimit {
  SweepId sweep;
  int64_t parallel = 0;  // as the user gave it, for the reason
  int64_t left = 0;
};

struct Snapshot {
  std::vector<NodeView> nodes;     // any order
  std::vector<Line> lines;         // any order
  std::vector<SweepLimit> limits;  // sweeps without one have no limit
};

/// The ranks that go to one node.
struct Part {
  std::string node;
  std::vector<std::string> devices;  // of its ranks in turn, as many each
  int64_t ranks = 1;
  bool operator==(const Part&) const = default;
};

struct Placement {
  CohortId cohort;
  std::vector<Part> parts;  // in the order of their ranks; by name of the node
  bool operator==(const Placement&) const = default;
};

/// Why what is left of a line waits on, after all that could start has been
/// given its devices. `reason` is shown to the user as it is.
struct Deferral {
  size_t line = 0;  // of the snapshot
  CohortId first;   // of those that are left
  std::string reason;
  /// No node could hold it even if it were empty, nor could all together.
  bool infeasible = false;
  bool operator==(const Deferral&) const = default;
};

/// One deferral for every line of which some are left, in the order served.
struct Plan {
  std::vector<Placement> placements;  // in the order served
  std::vector<Deferral> deferrals;
  /// Lines and cohorts that were looked at: what the round cost, whatever the
  /// number of cohorts that wait.
  int64_t looked_at = 0;
};

/// Serves higher priorities first, then sweeps, cells and cohorts in the order
/// of their numbers, each on the group of devices it leaves fullest, ties to
/// the lower node name. A cohort that does not fit lets later ones overtake it.
/// Nodes to avoid come after others, and a closed one after those.
/// A cohort goes to CPU slots only if there are not the accelerators it needs,
/// free or taken: so all of a sweep is computed on one kind of device.
/// Only where no node could hold all of its ranks, free or taken, are they
/// spread over several, over as few as will do: all of them or none.
Plan Schedule(Snapshot snapshot);

/// Names of those of `nodes` that would do for the cohort, alone or together,
/// if all of their devices were free and none were closed: the rule that
/// Schedule itself goes by.
std::vector<std::string> WhoCouldHold(const std::vector<NodeView>& nodes,
                                      const Demand& demand);

}  // namespace leadline::scheduler
