// The only rank of its world in this process, whose peers have just its values.

#pragma once

#include <memory>

#include "worker/collective/communicator.h"

namespace leadline::testing {

/// For what a rank holds and does itself; nothing is exchanged. Rank 0.
std::unique_ptr<collective::Communicator> MakeTwinCommunicator(int64_t size);

}  // namespace leadline::testing
