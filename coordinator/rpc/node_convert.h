// Nodes as control sees them, in messages that stay below their limit.

#pragma once

#include "coordinator/control/node_report.h"
#include "leadline/v1/node_service.pb.h"

namespace leadline::rpc {

v1::NodeSummary ToProto(const control::NodeNow& node);

/// Devices and attempts as far as they fit, the rest counted.
v1::ShowNodeReply ToShowReply(const control::NodeNow& node);

/// The nodes after `request.after`, as many as were asked for and fit.
/// InvalidArgument if the limit is negative.
absl::StatusOr<v1::ListNodesReply> ToListReply(
    const control::NodesReport& report, const v1::ListNodesRequest& request);

}  // namespace leadline::rpc
