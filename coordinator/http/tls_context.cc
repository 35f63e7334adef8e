#include "coordinator/http/tls_context.h"

#include <boost/asio/buffer.hpp>

#include "tls/pem_files.h"

namespace leadline::http {
namespace {

using boost::asio::buffer;
using boost::asio::ssl::context;

absl::Status DemandCertificates(const std::string& authorities_file,
                                context& made) {
  const auto authorities = tls::ReadAuthorities(authorities_file);
  if (!authorities.ok()) return authorities.status();
  boost::system::error_code error;
  made.add_certificate_authority(buffer(*authorities), error);
  made.set_verify_mode(context::verify_peer |
                       context::verify_fail_if_no_peer_cert);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError("cannot use " + authorities_file + ": " +
                                    error.message());
}

}  // namespace

absl::StatusOr<std::shared_ptr<context>> MakeTlsContext(
    const tls::ServerFiles& files) {
  const auto identity = tls::ReadIdentity(files.certificate, files.key);
  if (!identity.ok()) return identity.status();
  auto made = std::make_shared<context>(context::tls_server);
  boost::system::error_code error;
  made->set_options(context::default_workarounds | context::no_tlsv1 |
                        context::no_tlsv1_1 | context::no_compression,
                    error);
  if (!error) made->use_certificate_chain(buffer(identity->certificate), error);
  if (!error) made->use_private_key(buffer(identity->key), context::pem, error);
  if (error) {
    return absl::InvalidArgumentError("cannot serve HTTPS with " +
                                      files.certificate + ": " +
                                      error.message());
  }
  if (files.client_ca.empty()) return made;
  const absl::Status demanded = DemandCertificates(files.client_ca, *made);
  if (!demanded.ok()) return demanded;
  return made;
}

}  // namespace leadline::http
