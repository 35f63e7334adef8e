#include "tls/diagnosis.h"

#include <csignal>
#include <ctime>
#include <memory>

#include <absl/cleanup/cleanup.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tls/handshake_words.h"
#include "tls/host_port.h"
#include "tls/pem_files.h"

namespace leadline::tls {
namespace {

using Clock = std::chrono::steady_clock;
using Context = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using Session = std::unique_ptr<SSL, decltype(&SSL_free)>;

/// After the handshake a server of TLS 1.3 may still refuse our certificate.
constexpr std::chrono::milliseconds kLateRefusal{500};

int NoteAsked(SSL*, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 1;
}

bool WaitFor(int socket, short events, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - Clock::now());
  if (left.count() <= 0) return false;
  pollfd wait{socket, events, 0};
  return poll(&wait, 1, static_cast<int>(left.count())) > 0;
}

/// -1 if nothing listens there.
int Dial(const HostPort& to, Clock::time_point deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints,
                  &found) != 0) {
    return -1;
  }
  const absl::Cleanup free_found = [found] { freeaddrinfo(found); };
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int dialled =
        socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (dialled < 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    if ((connect(dialled, at->ai_addr, at->ai_addrlen) == 0 ||
         WaitFor(dialled, POLLOUT, deadline)) &&
        getsockopt(dialled, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
        error == 0) {
      return dialled;
    }
    close(dialled);
  }
  return -1;
}

/// Without files of its own it believes whom the system believes; to look
/// whether a server speaks TLS at all it needs to believe nobody.
Context MakeContext(const ClientFiles& files, bool believes) {
  Context context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  if (!believes) return context;
  if (files.ca.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else {
    SSL_CTX_load_verify_locations(context.get(), files.ca.c_str(), nullptr);
  }
  if (!files.certificate.empty()) {
    SSL_CTX_use_certificate_chain_file(context.get(),
                                       files.certificate.c_str());
    SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(),
                                SSL_FILETYPE_PEM);
  }
  return context;
}

Session MakeSession(SSL_CTX* context, int socket, const std::string& host) {
  constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  Session session(SSL_new(context), &SSL_free);
  SSL_set_fd(session.get(), socket);
  SSL_set_alpn_protos(session.get(), kHttp2, sizeof kHttp2);
  if (IsNumeric(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), host.c_str());
  } else {
    SSL_set_tlsext_host_name(session.get(), host.c_str());
    SSL_set1_host(session.get(), host.c_str());
  }
  // Goes on whatever it thinks of the server, so that all is known at the end.
  SSL_set_verify(session.get(), SSL_VERIFY_PEER,
                 [](int, X509_STORE_CTX*) { return 1; });
  return session;
}

/// Runs `step` until it is through; its last result.
template <typename Step>
int Drive(SSL* session, int socket, Clock::time_point deadline, Step step) {
  while (true) {
    const int result = step();
    if (result > 0) return result;
    const int error = SSL_get_error(session, result);
    const bool reads = error == SSL_ERROR_WANT_READ;
    if (!reads && error != SSL_ERROR_WANT_WRITE) return result;
    if (!WaitFor(socket, reads ? POLLIN : POLLOUT, deadline)) return result;
  }
}

int LastReason() {
  const unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
}

absl::Status Refused(const std::string& text) {
  return absl::UnauthenticatedError(text);
}

/// What is wrong with the certificate the server showed.
absl::Status CheckServer(SSL* session, const std::string& host) {
  const long verdict = SSL_get_verify_result(session);
  if (verdict == X509_V_OK) return absl::OkStatus();
  const Certificate shown(SSL_get1_peer_certificate(session), &X509_free);
  if (!shown) return Refused("the server shows no certificate");
  const std::string why = WhyNotValidNow(*shown);
  if (!why.empty()) return Refused("the server's certificate " + why);
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Refused("the server's certificate is not for " + host +
                     ", but for " + HostsOf(*shown) +
                     "; dial it by such a name, or make a certificate that "
                     "has this one");
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return Refused(kUnknownAuthority);
    default:
      return Refused(std::string("the server's certificate is not accepted: ") +
                     X509_verify_cert_error_string(verdict));
  }
}

absl::Status NotAccepted(const ClientFiles& files) {
  return Refused(files.certificate.empty()
                     ? "the server asks for a certificate; give --tls-cert and "
                       "--tls-key"
                     : "the server does not accept the certificate " +
                           files.certificate);
}

/// True if the server ends the connection instead of saying something. gRPC's
/// sends no alert that would tell why.
bool IsCutOff(SSL* session, int socket, Clock::time_point deadline) {
  char byte = 0;
  const int got = Drive(session, socket, deadline,
                        [&] { return SSL_read(session, &byte, 1); });
  return got <= 0 && SSL_get_error(session, got) != SSL_ERROR_WANT_READ;
}

absl::Status Handshake(const HostPort& to, const ClientFiles& files,
                       bool should_encrypt, Clock::time_point deadline) {
  const int socket = Dial(to, deadline);
  if (socket < 0) return absl::OkStatus();
  const absl::Cleanup close_socket = [socket] { close(socket); };
  const Context context = MakeContext(files, should_encrypt);
  const Session session = MakeSession(context.get(), socket, to.host);
  bool asked = false;  // for a certificate
  SSL_set_cert_cb(session.get(), &NoteAsked, &asked);
  ERR_clear_error();
  const int shaken = Drive(session.get(), socket, deadline,
                           [&] { return SSL_connect(session.get()); });
  const int reason = LastReason();
  if (!should_encrypt) {
    if (shaken <= 0) return absl::OkStatus();
    return Refused("the server speaks TLS; name its authority with --tls-ca");
  }
  if (reason == SSL_R_WRONG_VERSION_NUMBER ||
      reason == SSL_R_PACKET_LENGTH_TOO_LONG) {
    return Refused(kSpeaksNoTls);
  }
  if (shaken <= 0) return asked ? NotAccepted(files) : absl::OkStatus();
  absl::Status server = CheckServer(session.get(), to.host);
  if (!server.ok()) return server;
  if (asked && IsCutOff(session.get(), socket,
                        std::min(deadline, Clock::now() + kLateRefusal))) {
    return NotAccepted(files);
  }
  return absl::OkStatus();
}

/// While it lives a peer that closed its end is an error of the call, not a
/// signal that ends the program, which may want that one for its output.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const timespec at_once{};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace

absl::Status DiagnoseHandshake(const std::string& address,
                               const ClientFiles& files,
                               std::chrono::milliseconds limit) {
  if (address.starts_with("unix:")) return absl::OkStatus();
  const auto to = ParseHostPort(address);
  if (!to) return absl::OkStatus();
  const NoPipeSignal no_signal;
  absl::Status told =
      Handshake(*to, files, IsEncrypted(address, files), Clock::now() + limit);
  ERR_clear_error();
  return told;
}

}  // namespace leadline::tls
