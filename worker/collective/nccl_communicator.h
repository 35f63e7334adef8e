// Ranks on devices, by NCCL.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "worker/collective/communicator.h"
#include "worker/collective/nccl/clique.h"
#include "worker/collective/ring/ring.h"

namespace leadline::collective {

/// Which tensors NCCL moves.
using IsOnDevice = std::function<bool(const torch::Tensor&)>;

/// Tensors on devices go by NCCL, on a queue of their own, so that this rank
/// may compute meanwhile; those on the CPU, barriers and aborts go over the
/// ring. NCCL adds in an order of its own choice: the sums are the same bits on
/// all ranks, and on every run that it chooses alike for. Throws SetUpError,
/// and whatever `breathe` of the options throws. `library` is libnccl.so.2.
std::unique_ptr<Communicator> MakeNcclCommunicator(
    std::unique_ptr<Ring> ring, std::shared_ptr<DeviceQueue> queue,
    const nccl::CliqueOptions& options,
    const std::string& library = nccl::kLibraryName,
    IsOnDevice is_on_device = [](const torch::Tensor& tensor) {
      return !tensor.is_cpu();
    });

}  // namespace leadline::collective
