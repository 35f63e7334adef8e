// Looks into the data files that sweeps name.

#pragma once

#include <stop_token>
#include <string>

#include <absl/status/statusor.h>

#include "coordinator/spec_reader/spec_reader.h"

namespace leadline::rpc {

/// Hashes a regular file; blocks as long as reading it takes. NotFound,
/// PermissionDenied or InvalidArgument with words for the user; Unavailable if
/// `stop` came first.
absl::StatusOr<spec_reader::DataFacts> InspectData(const std::string& path,
                                                   const std::stop_token& stop);

}  // namespace leadline::rpc
