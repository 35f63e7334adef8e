// The coordinator's values, checked, as ours.

#pragma once

#include <optional>

#include <absl/status/statusor.h>

#include "common/ids.h"
#include "leadline/v1/worker_service.pb.h"
#include "model/spec/identity.h"
#include "worker/agent/hold_record.h"

namespace leadline::agent {

/// Null unless both parts are an id of ours.
std::optional<AttemptKey> FromMessage(const v1::Attempt& attempt);

v1::Attempt ToMessage(const AttemptKey& attempt);

/// Which ranks are to run here, on what; nothing of it is checked.
HoldRecord HoldFrom(const v1::StartAttempt& order);

/// The trainers' configuration of an order, but for `folder`, the data's path,
/// the device and the ranks. InvalidArgument (failure kind config) if a value
/// has no type, the settings do not stand, the seeds are none or too many, or
/// the ranks do not fit their world and their devices.
absl::StatusOr<spec::TrainerConfig> ConfigFrom(const v1::StartAttempt& order);

}  // namespace leadline::agent
