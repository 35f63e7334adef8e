#include "coordinator/http/server.h"

#include <chrono>
#include <thread>
#include <utility>

#include <absl/status/status.h>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "coordinator/http/session.h"
#include "errors/error_code.h"

namespace leadline::http {
namespace {

using boost::asio::ip::tcp;

constexpr int kAnsweringThreads = 2;
constexpr std::chrono::milliseconds kAfterRefusedAccept{100};
/// Of those that are told that there is no room, at once.
constexpr size_t kMostTurnedAway = 16;

std::string ToText(const tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(endpoint.port());
}

absl::StatusOr<tcp::endpoint> EndpointOf(const ServerOptions& options) {
  std::string host = options.host;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  }
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (error) {
    return absl::InvalidArgumentError("cannot serve HTTP on " + options.host +
                                      ": it is no address");
  }
  return tcp::endpoint(address, options.port);
}

}  // namespace

class Server::Listener {
 public:
  Listener(ServerOptions options, Routes routes)
      : options_(std::move(options)), routes_(std::move(routes)) {}

  ~Listener() { Stop(); }

  absl::Status Open() {
    const auto endpoint = EndpointOf(options_);
    if (!endpoint.ok()) return endpoint.status();
    boost::system::error_code error;
    acceptor_.open(endpoint->protocol(), error);
    // Connections of a server that has just ended do not keep its port.
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(*endpoint, error);
    if (!error)
      acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
    if (!error) bound_ = ToText(acceptor_.local_endpoint(error));
    if (error) {
      return WithError(
          absl::UnavailableError("cannot serve HTTP on " + ToText(*endpoint) +
                                 ": " + error.message() +
                                 "; stop what listens there or choose another "
                                 "with --http"),
          ErrorCode::kAddressInUse);
    }
    Accept();
    thread_ = std::jthread([this] { context_.run(); });
    return absl::OkStatus();
  }

  void Stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
    answering_.stop();
    answering_.join();
  }

  const std::string& bound() const { return bound_; }

 private:
  using TcpSession = Session<boost::beast::tcp_stream>;
  using TlsSession =
      Session<boost::beast::ssl_stream<boost::beast::tcp_stream>>;

  void Accept() {
    acceptor_.async_accept(
        [this](boost::system::error_code error, tcp::socket socket) {
          if (error) return AcceptLater();
          Serve(std::move(socket));
          Accept();
        });
  }

  /// Out of descriptors, say: a loop would only eat the processor.
  void AcceptLater() {
    timer_.expires_after(kAfterRefusedAccept);
    timer_.async_wait([this](boost::system::error_code error) {
      if (!error) Accept();
    });
  }

  void Serve(tcp::socket socket) {
    boost::system::error_code error;
    const auto peer = socket.remote_endpoint(error);
    if (error) return;  // gone already
    const bool has_room = open_ < options_.limits.connections;
    if (!has_room && turned_away_ >= kMostTurnedAway) return;
    if (options_.tls) {
      // To be told that there is no room would take a handshake.
      if (!has_room) return;
      return std::make_shared<TlsSession>(
                 boost::beast::ssl_stream<boost::beast::tcp_stream>(
                     boost::beast::tcp_stream(std::move(socket)),
                     *options_.tls()),
                 ToText(peer), parts_, open_)
          ->Begin();
    }
    auto session = std::make_shared<TcpSession>(
        boost::beast::tcp_stream(std::move(socket)), ToText(peer), parts_,
        has_room ? open_ : turned_away_);
    if (has_room) {
      session->Begin();
    } else {
      session->TurnAway();
    }
  }

  const ServerOptions options_;
  const Routes routes_;
  std::string bound_;
  // Owned by the thread below, and by nobody once it has ended.
  size_t open_ = 0;
  size_t turned_away_ = 0;
  // What waits to be answered holds sessions, so the context goes last.
  boost::asio::io_context context_{1};
  boost::asio::thread_pool answering_{kAnsweringThreads};
  SessionParts parts_{
      routes_, options_.limits, answering_, [this](const Answered& answered) {
        if (options_.on_answered) {
          options_.on_answered(answered.route, answered.response.code);
        }
      }};
  tcp::acceptor acceptor_{context_};
  boost::asio::steady_timer timer_{context_};
  std::jthread thread_;
};

Server::Server(std::unique_ptr<Listener> listener)
    : listener_(std::move(listener)) {}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(ServerOptions options,
                                                      Routes routes) {
  auto listener =
      std::make_unique<Listener>(std::move(options), std::move(routes));
  const absl::Status opened = listener->Open();
  if (!opened.ok()) return opened;
  return std::unique_ptr<Server>(new Server(std::move(listener)));
}

Server::~Server() = default;

std::string Server::address() const { return listener_->bound(); }

void Server::Stop() { listener_->Stop(); }

}  // namespace leadline::http
