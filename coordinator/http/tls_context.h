// The certificate pages are served under: that of the calls.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <absl/status/statusor.h>
#include <boost/asio/ssl/context.hpp>

#include "tls/server.h"

namespace leadline::http {

/// TLS 1.2 and later. InvalidArgument if a file is missing or cannot be used.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(
    const tls::ServerFiles& files);

/// The context of those files as they are: made anew when they were renewed.
/// Owned by one thread.
class TlsContexts {
 public:
  /// InvalidArgument as MakeTlsContext.
  static absl::StatusOr<TlsContexts> Open(tls::ServerFiles files);

  /// Looks at the files every `look_again`. While renewed ones cannot be used,
  /// what there was stays.
  std::shared_ptr<boost::asio::ssl::context> Current(
      std::chrono::steady_clock::time_point now);

 private:
  explicit TlsContexts(tls::ServerFiles files) : files_(std::move(files)) {}

  /// What changes when a file does.
  std::string Stamp() const;

  tls::ServerFiles files_;
  std::string stamp_;
  std::chrono::steady_clock::time_point looked_at_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace leadline::http
