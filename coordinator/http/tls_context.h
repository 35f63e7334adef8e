// The certificate pages are served under: that of the calls.

#pragma once

#include <memory>

#include <absl/status/statusor.h>
#include <boost/asio/ssl/context.hpp>

#include "tls/server.h"

namespace leadline::http {

/// TLS 1.2 and later. InvalidArgument if a file is missing or cannot be used.
absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeTlsContext(
    const tls::ServerFiles& files);

}  // namespace leadline::http
