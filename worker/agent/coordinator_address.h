// Where the coordinator listens, as gRPC is told.

#pragma once

#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "worker/agent/file_descriptor.h"

namespace leadline::agent {

/// A target and what must stay open while it is used.
struct DialTarget {
  std::string target;
  FileDescriptor folder;  // of a Unix socket
};

/// `address` is HOST:PORT or unix:PATH. A Unix socket is dialled through its
/// folder's descriptor, since a socket's path holds 107 bytes. InvalidArgument
/// if it is neither, Unavailable if the folder cannot be opened (yet).
absl::StatusOr<DialTarget> MakeDialTarget(std::string_view address);

}  // namespace leadline::agent
