// The figures of a trial's evaluation in the terminal: docs/diagnostics.md.

#pragma once

#include <string>

#include "cli/terminal.h"
#include "leadline/v1/results_service.pb.h"

namespace leadline::cli {

/// A table of routers, one of sublayers, one of blocks' details, and what the
/// loss is without a family of sources: those that there are figures for.
std::string RenderFigures(const v1::RoutingReply& routing, const Style& style);

}  // namespace leadline::cli
