// Looks into the checkpoints that sweeps start from.

#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "coordinator/spec_reader/spec_reader.h"

namespace leadline::rpc {

/// Reads the manifest of the checkpoint in a folder, and what tensors its file
/// names; these are hashed where they are used. InvalidArgument with words for
/// the user.
absl::StatusOr<spec_reader::CheckpointFacts> InspectCheckpoint(
    const std::string& folder);

}  // namespace leadline::rpc
