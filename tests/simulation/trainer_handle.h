// A simulated trainer and its event file, as an agent's logic sees them.

#pragma once

#include <memory>

#include "plant.h"
#include "sim_trainer.h"
#include "worker/agent/attempt_host.h"

namespace leadline::simulation {

/// `clock_offset`: of the machine's steady clock, which both ends share.
/// `adopted`: its end can be seen, and not how it ended.
std::unique_ptr<agent::Trainer> HandleOf(std::shared_ptr<SimProcess> process,
                                         Duration clock_offset, Plant plant,
                                         bool adopted);

std::unique_ptr<agent::EventLines> LinesOf(std::shared_ptr<EventFile> file);

}  // namespace leadline::simulation
