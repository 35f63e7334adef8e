#include "coordinator/http/tls_context.h"

#include <boost/asio/buffer.hpp>
#include <sys/stat.h>

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

absl::StatusOr<TlsContexts> TlsContexts::Open(tls::ServerFiles files) {
  TlsContexts contexts(std::move(files));
  contexts.stamp_ = contexts.Stamp();
  auto made = MakeTlsContext(contexts.files_);
  if (!made.ok()) return made.status();
  contexts.context_ = *std::move(made);
  contexts.looked_at_ = std::chrono::steady_clock::now();
  return contexts;
}

std::shared_ptr<context> TlsContexts::Current(
    std::chrono::steady_clock::time_point now) {
  if (now - looked_at_ < files_.look_again) return context_;
  looked_at_ = now;
  const std::string stamp = Stamp();
  if (stamp == stamp_) return context_;
  // A certificate whose key has not followed yet is looked at again.
  auto made = MakeTlsContext(files_);
  if (made.ok()) {
    context_ = *std::move(made);
    stamp_ = stamp;
  }
  return context_;
}

std::string TlsContexts::Stamp() const {
  std::string stamp;
  for (const std::string* path :
       {&files_.certificate, &files_.key, &files_.client_ca}) {
    struct stat info {};
    if (path->empty() || stat(path->c_str(), &info) != 0) continue;
    stamp += std::to_string(info.st_ino) + " " + std::to_string(info.st_size) +
             " " + std::to_string(info.st_mtim.tv_sec) + "." +
             std::to_string(info.st_mtim.tv_nsec) + "\n";
  }
  return stamp;
}

}  // namespace leadline::http
