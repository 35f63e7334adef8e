// gRPC's own lines, which it writes to standard error.

#pragma once

#include <cstdlib>

#include <grpc/support/log.h>

namespace leadline {

/// They are about its inside; what matters is told by statuses. Silent from now
/// on, unless its own variables ask for them. Call it once, at a program's
/// start.
inline void SilenceGrpc() {
  if (std::getenv("GRPC_VERBOSITY") != nullptr ||
      std::getenv("GRPC_TRACE") != nullptr) {
    return;
  }
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace leadline
