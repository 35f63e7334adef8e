// The client's end of a connection: whether it is encrypted, and by whose word
// the server is believed.

#pragma once

#include <memory>
#include <string>

#include <absl/status/statusor.h>
#include <grpcpp/security/credentials.h>

namespace leadline::tls {

/// Variables of the environment.
inline constexpr char kCaVariable[] = "LEADLINE_TLS_CA";
inline constexpr char kCertificateVariable[] = "LEADLINE_TLS_CERT";
inline constexpr char kKeyVariable[] = "LEADLINE_TLS_KEY";

/// Paths; empty where none was given.
struct ClientFiles {
  std::string ca;           // authorities; empty: those the system trusts
  std::string certificate;  // shown to a server that asks for one
  std::string key;

  bool any() const {
    return !ca.empty() || !certificate.empty() || !key.empty();
  }
};

/// The files that LEADLINE_TLS_CA, LEADLINE_TLS_CERT and LEADLINE_TLS_KEY name,
/// where `given` names none.
ClientFiles WithVariables(ClientFiles given);

/// True if what is said to `address` ("unix:PATH" or "HOST:PORT") is encrypted:
/// always where it leaves this machine, and where files are named.
bool IsEncrypted(const std::string& address, const ClientFiles& files);

/// How to dial `address`. InvalidArgument if a file cannot be used.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials(
    const std::string& address, const ClientFiles& files);

}  // namespace leadline::tls
