#include "tls/server.h"

#include <absl/status/status.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

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
  // What reads them from now on says nothing of what is wrong.
  const auto identity = ReadIdentity(files.certificate, files.key);
  if (!identity.ok()) return identity.status();
  if (!files.client_ca.empty()) {
    const auto authorities = ReadAuthorities(files.client_ca);
    if (!authorities.ok()) return authorities.status();
  }
  grpc::experimental::TlsServerCredentialsOptions options(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.certificate, files.client_ca,
          static_cast<unsigned>(files.look_again.count())));
  options.watch_identity_key_cert_pairs();
  if (!files.client_ca.empty()) {
    options.watch_root_certs();
    options.set_cert_request_type(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(options);
}

}  // namespace leadline::tls
