// The figures of an evaluation, as events.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <torch/torch.h>

#include "model/decoder.h"
#include "model/probes/figures.h"
#include "model/spec/settings.h"
#include "worker/trainer/evaluation.h"
#include "worker/trainer/events.h"

namespace leadline::trainer {

/// The figures of each replica on `windows` of one length: model::Diagnose.
std::vector<model::Figures> MeasureFigures(const model::Decoder& decoder,
                                           const spec::Settings& settings,
                                           std::span<const uint16_t> symbols,
                                           std::span<const Window> windows,
                                           const torch::Device& device);

/// One event a replica. Values: `route.map` (a row a router, in list order of
/// its sources) and `route.sources` (their labels: {"names": [...], "rows":
/// [[begin, end, ...], ...]}, spans of the names) where there are routers, and
/// the figures by name.
std::vector<RoutingEvent> ReportFigures(
    const std::vector<model::Figures>& figures, int64_t step);

}  // namespace leadline::trainer
