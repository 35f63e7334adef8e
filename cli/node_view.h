// Nodes as tables for people and as JSON.

#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "cli/terminal.h"
#include "leadline/v1/node_service.pb.h"

namespace leadline::cli {

/// A line a node, and under it why some take no work as others do.
std::string RenderNodes(const std::vector<v1::NodeSummary>& nodes,
                        const Style& style);
Json NodesJson(const std::vector<v1::NodeSummary>& nodes);

/// What one node is, has and runs.
std::string RenderNode(const v1::ShowNodeReply& node, const Style& style);
Json NodeJson(const v1::ShowNodeReply& node);

}  // namespace leadline::cli
