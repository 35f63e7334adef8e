// The coordinator's values, checked, as ours.

#pragma once

#include <optional>

#include <absl/status/statusor.h>

#include "common/ids.h"
#include "leadline/v1/worker_service.pb.h"
#include "model/spec/identity.h"

namespace leadline::agent {

/// Null unless both parts are an id of ours.
std::optional<AttemptKey> FromMessage(const v1::Attempt& attempt);

v1::Attempt ToMessage(const AttemptKey& attempt);

/// The trainer's configuration of an order, but for `folder`, the data's path
/// and the device. InvalidArgument (failure kind config) if a value has no
/// type, the settings do not stand, or the seeds are none or too many.
absl::StatusOr<spec::TrainerConfig> ConfigFrom(const v1::StartAttempt& order);

}  // namespace leadline::agent
