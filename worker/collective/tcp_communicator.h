// Ranks on CPUs, over TCP.

#pragma once

#include <memory>

#include "worker/collective/communicator.h"
#include "worker/collective/ring/ring.h"

namespace leadline::collective {

/// Tensors lie on the CPU. The ring moves them by a thread of its own, so that
/// this rank may compute meanwhile.
std::unique_ptr<Communicator> MakeTcpCommunicator(std::unique_ptr<Ring> ring,
                                                  int64_t rank, int64_t size);

}  // namespace leadline::collective
