// What routers do, as events.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/torch.h>

#include "model/decoder.h"
#include "worker/trainer/evaluation.h"
#include "worker/trainer/events.h"

namespace leadline::trainer {

/// One event a replica from one forward pass over `windows` of one length,
/// without dropout and without gradients; none for methods without routers.
/// Values: `route.map` (a row a router, in list order of its sources),
/// `route.sources` (their labels, in the same shape), and the figures of
/// model::RoutingSummary by name.
std::vector<RoutingEvent> ReportRouting(const model::Decoder& decoder,
                                        std::span<const uint16_t> symbols,
                                        std::span<const Window> windows,
                                        const torch::Device& device,
                                        int64_t step);

}  // namespace leadline::trainer
