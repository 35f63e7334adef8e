// Makes the faults of a script happen.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "people.h"
#include "script.h"
#include "sim_coordinator.h"
#include "sim_node.h"
#include "sim_store.h"

namespace leadline::simulation {

class FaultMaker {
 public:
  /// `sweeps`: how many people submit. All must outlive it.
  FaultMaker(Surroundings around, SimStore& store, SimCoordinator& coordinator,
             People& people, const std::vector<std::unique_ptr<SimNode>>& nodes,
             int64_t sweeps)
      : around_(around),
        store_(store),
        coordinator_(coordinator),
        people_(people),
        nodes_(nodes),
        sweeps_(sweeps) {}

  /// False where there is nobody it could happen to.
  bool Happens(const Fault& fault);

 private:
  bool HappensToLink(const Fault& fault);
  bool HappensToCoordinator(const Fault& fault);
  bool HappensToNode(const Fault& fault);
  bool PeopleDo(const Fault& fault);
  /// What the coordinator says takes longer and longer, then nothing passes.
  void FadeLink(const Fault& fault, Duration time);
  SimNode& NodeOf(const Fault& fault) const;

  Surroundings around_;
  SimStore& store_;
  SimCoordinator& coordinator_;
  People& people_;
  const std::vector<std::unique_ptr<SimNode>>& nodes_;
  const int64_t sweeps_;
};

}  // namespace leadline::simulation
