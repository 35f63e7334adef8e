// A sweep file as it is sent to the coordinator.

#pragma once

#include <filesystem>

#include <absl/status/statusor.h>

#include "leadline/v1/sweep_service.pb.h"

namespace leadline::cli {

/// Reads the file ("-": standard input) into a request with a fresh request id.
/// Its content is the coordinator's to judge; InvalidArgument if it cannot be
/// read, is larger than a request may be, or is not UTF-8 (with the place).
absl::StatusOr<v1::SubmitRequest> ReadSweepFile(const std::string& path);

/// 128 random bits, hexadecimal.
std::string FreshRequestId();

}  // namespace leadline::cli
