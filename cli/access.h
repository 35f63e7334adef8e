// By what a command is let in: certificates and a token.

#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "tls/client.h"

namespace leadline::cli {

/// What the command line said; empty where it said nothing. A token itself is
/// never part of it: other users see the arguments of a process.
struct AccessOptions {
  tls::ClientFiles files;  // --tls-ca, --tls-cert, --tls-key
  std::string token_file;  // --token-file
};

/// Puts what was said into the environment, where whoever dials finds it: the
/// command line stands above it. Before any other thread is made.
void PutIntoEnvironment(const AccessOptions& options);

struct Access {
  tls::ClientFiles files;
  std::string token;  // empty: none
};

/// From LEADLINE_TLS_CA, _CERT and _KEY, and where tls/token.h finds a token.
/// Nothing for a Unix socket, whose folder is the door.
/// InvalidArgument if the token's file cannot be read or others can read it.
absl::StatusOr<Access> ReadAccess(const std::string& address);

}  // namespace leadline::cli
