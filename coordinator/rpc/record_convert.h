// Records of trainers from the wire, each checked by itself.

#pragma once

#include <absl/status/statusor.h>

#include "coordinator/control/trainer_record.h"
#include "leadline/v1/worker_service.pb.h"

namespace leadline::rpc {

/// InvalidArgument if the sequence is no line number. A record that makes no
/// sense keeps its place in the sequence as TrainerOther.
absl::StatusOr<control::TrainerRecord> FromProto(
    const v1::TrainerRecord& record);

}  // namespace leadline::rpc
