#include "tls/client.h"

#include <cstdlib>

#include <absl/status/status.h>

#include "tls/host_port.h"
#include "tls/pem_files.h"

namespace leadline::tls {
namespace {

void FillFrom(const char* variable, std::string& path) {
  const char* value = std::getenv(variable);
  if (path.empty() && value != nullptr) path = value;
}

absl::Status CheckPair(const ClientFiles& files) {
  if (files.certificate.empty() == files.key.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      files.key.empty() ? "a certificate without its key: give --tls-key too"
                        : "a key without its certificate: give --tls-cert too");
}

}  // namespace

ClientFiles WithVariables(ClientFiles given) {
  FillFrom(kCaVariable, given.ca);
  // A pair from two sources would be none.
  if (given.certificate.empty() && given.key.empty()) {
    FillFrom(kCertificateVariable, given.certificate);
    FillFrom(kKeyVariable, given.key);
  }
  return given;
}

bool IsEncrypted(const std::string& address, const ClientFiles& files) {
  if (address.starts_with("unix:")) return false;
  if (files.any()) return true;
  const auto parsed = ParseHostPort(address);
  return !parsed || !IsLoopback(parsed->host);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> ClientCredentials(
    const std::string& address, const ClientFiles& files) {
  if (!IsEncrypted(address, files)) return grpc::InsecureChannelCredentials();
  const absl::Status pair = CheckPair(files);
  if (!pair.ok()) return pair;
  grpc::SslCredentialsOptions options;
  if (!files.ca.empty()) {
    auto authorities = ReadAuthorities(files.ca);
    if (!authorities.ok()) return authorities.status();
    options.pem_root_certs = *std::move(authorities);
  }
  if (!files.certificate.empty()) {
    auto identity = ReadIdentity(files.certificate, files.key);
    if (!identity.ok()) return identity.status();
    options.pem_cert_chain = std::move(identity->certificate);
    options.pem_private_key = std::move(identity->key);
  }
  return grpc::SslCredentials(options);
}

}  // namespace leadline::tls
