// One page of trials, of sweeps, of a curve: as many as fit a message.

#pragma once

#include <absl/status/statusor.h>

#include "leadline/v1/results_service.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

// InvalidArgument for a negative limit or an id that is none; NotFound as in
// the protocol. A page may be shorter than was asked for: messages have a
// limit.

absl::StatusOr<v1::ListSweepsReply> ListSweeps(
    const storage::StoreReader& reader, const v1::ListSweepsRequest& request);

absl::StatusOr<v1::ListTrialsReply> ListTrials(
    const storage::StoreReader& reader, const v1::ListTrialsRequest& request);

absl::StatusOr<v1::CurveReply> ReadCurve(const storage::StoreReader& reader,
                                         const v1::CurveRequest& request);

absl::StatusOr<v1::RoutingReply> ReadRouting(const storage::StoreReader& reader,
                                             const v1::RoutingRequest& request);

}  // namespace leadline::rpc
