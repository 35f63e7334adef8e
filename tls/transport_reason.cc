#include "tls/transport_reason.h"

#include <array>

#include "tls/handshake_words.h"

namespace leadline::tls {
namespace {

struct Translation {
  std::string_view jargon;  // somewhere in the cause
  std::string_view words;
};

constexpr std::string_view kWebServer =
    "a web server answers there: is it the port of --http?";

constexpr std::array kTranslations = {
    Translation{"missing selected ALPN property", kWebServer},
    Translation{"Trying to connect an http1.x server", kWebServer},
    Translation{"Failed parsing HTTP/2",
                "another program answers there, which is no coordinator"},
    Translation{"wrong version number", kSpeaksNoTls},
    Translation{"certificate verify failed", kUnknownAuthority},
    Translation{"Socket closed", "the connection was closed from there"},
    Translation{"keepalive watchdog timeout",
                "nothing was heard on the connection for too long"},
    Translation{"Cancelling all calls", "it is ending"},
    Translation{"Domain name not found", "no such host"},
};

/// What gRPC says of dialling ends with what the system said.
std::string_view CauseOf(std::string_view message) {
  for (const char* dialling :
       {"failed to connect to all addresses", "DNS resolution failed"}) {
    const size_t cause = message.rfind(": ");
    if (message.starts_with(dialling) && cause != message.npos) {
      return message.substr(cause + 2);
    }
  }
  return message;
}

}  // namespace

std::string TransportReason(std::string_view grpc_message) {
  const std::string_view cause = CauseOf(grpc_message);
  for (const Translation& known : kTranslations) {
    if (cause.find(known.jargon) != cause.npos) return std::string(known.words);
  }
  // "error:0A000410:SSL routines::sslv3 alert handshake failure"
  constexpr std::string_view kOpenSsl = "SSL routines::";
  const size_t detail = cause.find(kOpenSsl);
  if (cause.starts_with("error:") && detail != cause.npos) {
    return "the TLS handshake failed: " +
           std::string(cause.substr(detail + kOpenSsl.size()));
  }
  return std::string(cause);
}

}  // namespace leadline::tls
