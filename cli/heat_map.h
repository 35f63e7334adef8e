// A routing map in the terminal.

#pragma once

#include <string>

#include "cli/json.h"
#include "cli/terminal.h"
#include "leadline/v1/results_service.pb.h"

namespace leadline::cli {

/// Rows are routers (sublayer and kind, the readout last), columns sources; the
/// darker, the larger the mean weight: greys where the terminal has them, block
/// shades in UTF-8, else ASCII. Entropy, largest weight, embedding and detail
/// mass stand beside each row.
std::string RenderHeatMap(const v1::RoutingReply& routing, const Style& style);

/// All of it, in the words of the wire.
Json RoutingJson(const v1::RoutingReply& routing);

}  // namespace leadline::cli
