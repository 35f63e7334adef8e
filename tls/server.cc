#include "tls/server.h"

#include <absl/status/status.h>

#include "tls/pem_files.h"

namespace leadline::tls {

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentials(
    const ServerFiles& files) {
  if (files.certificate.empty() || files.key.empty()) {
    return absl::InvalidArgumentError(
        files.certificate.empty()
            ? "TLS needs a certificate: give --tls-cert"
            : "TLS needs the certificate's key: give --tls-key");
  }
  auto identity = ReadIdentity(files.certificate, files.key);
  if (!identity.ok()) return identity.status();
  grpc::SslServerCredentialsOptions options;
  if (!files.client_ca.empty()) {
    auto authorities = ReadAuthorities(files.client_ca);
    if (!authorities.ok()) return authorities.status();
    options.pem_root_certs = *std::move(authorities);
    options.client_certificate_request =
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;
  }
  options.pem_key_cert_pairs.push_back(
      {std::move(identity->key), std::move(identity->certificate)});
  return grpc::SslServerCredentials(options);
}

}  // namespace leadline::tls
