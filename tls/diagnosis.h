// Why two ends do not understand each other. gRPC tells its users that a
// handshake failed, and little else.

#pragma once

#include <chrono>
#include <string>

#include <absl/status/status.h>

#include "tls/client.h"

namespace leadline::tls {

/// Dials `address` once more, on its own, and says what stands in the way:
/// Unauthenticated where certificates do, or one end speaks TLS and the other
/// does not. OK if that is not the matter, or the address is a socket's path.
/// Takes `limit` at most, and a moment where a server answers.
absl::Status DiagnoseHandshake(const std::string& address,
                               const ClientFiles& files,
                               std::chrono::milliseconds limit);

}  // namespace leadline::tls
