// The server's end: its certificate, and whether clients must show one.

#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <grpcpp/security/server_credentials.h>

#include "tls/pem_files.h"

namespace leadline::tls {

/// Paths; all empty: no TLS.
struct ServerFiles {
  std::string certificate;
  std::string key;
  std::string client_ca;  // given: clients must show a certificate of it
  /// How often a server looks whether they were renewed; at least 1.
  std::chrono::seconds look_again{10};

  bool any() const {
    return !certificate.empty() || !key.empty() || !client_ca.empty();
  }
};

/// The certificate as it lies there, and its key. InvalidArgument if a file is
/// missing or cannot be used, that of the authorities included.
absl::StatusOr<Identity> ReadServerFiles(const ServerFiles& files);

/// InvalidArgument as ReadServerFiles. Files that are
/// renewed later count for connections from then on.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentials(
    const ServerFiles& files);

}  // namespace leadline::tls
