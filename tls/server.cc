#include "tls/server.h"

#include <absl/status/status.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

namespace leadline::tls {

absl::StatusOr<Identity> ReadServerFiles(const ServerFiles& files) {
  if (files.certificate.empty() || files.key.empty()) {
    return absl::InvalidArgumentError(
        files.certificate.empty()
            ? "TLS needs a certificate: give --tls-cert"
            : "TLS needs the certificate's key: give --tls-key");
  }
  auto identity = ReadIdentity(files.certificate, files.key);
  if (!identity.ok() || files.client_ca.empty()) return identity;
  const auto authorities = ReadAuthorities(files.client_ca);
  if (!authorities.ok()) return authorities.status();
  return identity;
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> ServerCredentials(
    const ServerFiles& files) {
  // What reads them from now on says nothing of what is wrong.
  const auto identity = ReadServerFiles(files);
  if (!identity.ok()) return identity.status();
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
