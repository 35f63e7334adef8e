// Ranks of one process that train, each on a thread of its own.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/worker/collective/ring_world.h"
#include "worker/collective/communicator.h"
#include "worker/collective/tcp_communicator.h"

namespace leadline::trainer {

/// Calls `act` for each of so many ranks at once, over loopback. Returns what
/// each threw, or "". A rank that throws tells the others.
inline std::vector<std::string> OnRanks(
    int64_t size,
    const std::function<void(collective::Communicator& communicator)>& act) {
  auto rings = collective::RingWorld(size).Join();
  return collective::OnAllRanks(rings.size(), [&](int64_t rank) {
    const auto communicator = collective::MakeTcpCommunicator(
        std::move(rings[static_cast<size_t>(rank)]), rank, size);
    act(*communicator);
  });
}

}  // namespace leadline::trainer
