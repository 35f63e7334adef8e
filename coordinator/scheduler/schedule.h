// Which cohorts start, and where. Pure: no clock, no I/O, no randomness, so the
// same snapshot always gives the same plan.

#pragma once

#include <cstdint>
#include <optional>
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

/// A cohort waiting for all of its devices at once: an accelerator a rank, all
/// of one type, or `threads` CPU slots of one node a rank where there are not
/// accelerators enough.
struct CohortRequest {
  CohortId id;
  int64_t priority = 0;  // higher goes first
  int64_t ranks = 1;
  int64_t threads = 1;
  int64_t more_memory_than = 0;      // bytes of its devices together; 0: any
  std::vector<std::string> avoid{};  // nodes it gets if no other is free
  std::vector<std::string> never{};  // nodes it does not get
};

/// How many more attempts of a sweep may start.
struct SweepLimit {
  SweepId sweep;
  int64_t parallel = 0;  // as the user gave it, for the reason
  int64_t left = 0;
};

struct Snapshot {
  std::vector<NodeView> nodes;       // any order
  std::vector<CohortRequest> queue;  // any order
  std::vector<SweepLimit> limits;    // sweeps without one have no limit
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

/// A cohort left in the queue. `reason` is shown to the user as it is.
struct Deferral {
  CohortId cohort;
  std::string reason;
  /// No node could hold it even if it were empty, nor could all together.
  bool infeasible = false;
  bool operator==(const Deferral&) const = default;
};

/// One entry for every cohort in the queue: it is placed or it is deferred.
struct Plan {
  std::vector<Placement> placements;
  std::vector<Deferral> deferrals;
  bool operator==(const Plan&) const = default;
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
                                      const CohortRequest& request);

/// "7.5 GiB", "12 MiB"
std::string MemoryText(int64_t bytes);

}  // namespace leadline::scheduler
