#include "worker/collective/ring/meeting.h"

#include <algorithm>
#include <optional>
#include <variant>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "worker/collective/ring/collective_error.h"
#include "worker/collective/ring/handshake.h"
#include "worker/collective/ring/mesh.h"

namespace leadline::collective {
namespace {

using boost::asio::ip::tcp;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

constexpr milliseconds kBeforeNextTry{100};
constexpr milliseconds kBetweenBreaths{20};
/// Of those who have not said yet who they are, besides the ranks.
constexpr size_t kMostStrangers = 64;

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() <= 5 &&
         text.find_first_not_of("0123456789") == std::string::npos &&
         std::stoi(text) <= 65535;
}

tcp::acceptor ListenAt(boost::asio::io_context& io, const std::string& host,
                       const std::string& port) {
  tcp::resolver resolver(io);
  ErrorCode error;
  const auto found =
      resolver.resolve(host, port, tcp::resolver::passive, error);
  if (error || found.empty()) {
    throw SetUpError("cannot listen on " + host + ": " + error.message());
  }
  const tcp::endpoint endpoint = found.begin()->endpoint();
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) {
    throw SetUpError("cannot listen on " + host + ":" + port + ": " +
                     error.message());
  }
  return acceptor;
}

// Handlers that are left speak of the gathering, so what was gathered gets a
// context without any.
std::unique_ptr<Mesh> MoveToOwnThread(
    std::vector<std::unique_ptr<tcp::socket>> sockets) {
  auto mesh = std::make_unique<Mesh>();
  mesh->io = std::make_unique<boost::asio::io_context>(1);
  for (const auto& socket : sockets) {
    mesh->sockets.emplace_back();
    if (!socket) continue;
    const tcp protocol = socket->local_endpoint().protocol();
    mesh->sockets.back() =
        std::make_unique<tcp::socket>(*mesh->io, protocol, socket->release());
  }
  return mesh;
}

// What is in effect while others are waited for.
class Gathering {
 public:
  Gathering(boost::asio::io_context& io, tcp::acceptor& acceptor,
            const std::vector<std::string>& peers,
            const MeetingOptions& options)
      : io_(io),
        acceptor_(acceptor),
        peers_(peers),
        options_(options),
        deadline_(steady_clock::now() + options.limit),
        sockets_(peers.size()),
        last_words_(peers.size()) {}

  std::vector<std::unique_ptr<tcp::socket>> Wait() {
    missing_ = peers_.size() - 1;
    if (missing_ > static_cast<size_t>(options_.introduction.rank)) Accept();
    for (int64_t rank = 0; rank < options_.introduction.rank; ++rank) {
      Dial(rank);
    }
    while (missing_ > 0) {
      io_.restart();
      io_.run_for(kBetweenBreaths);
      if (refusal_) throw SetUpError(*refusal_);
      if (missing_ == 0) break;
      options_.breathe();
      if (steady_clock::now() > deadline_) throw SetUpError(WhoIsMissing());
    }
    return std::move(sockets_);
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](const ErrorCode& error, tcp::socket socket) {
      if (error) return AcceptAgain();
      if (strangers_ < kMostStrangers + peers_.size()) {
        Answer(std::move(socket));
      }
      Accept();
    });
  }

  // No descriptor may be left for now.
  void AcceptAgain() {
    auto timer = std::make_shared<boost::asio::steady_timer>(io_);
    timer->expires_after(kBeforeNextTry);
    timer->async_wait([this, timer](const ErrorCode&) { Accept(); });
  }

  void Answer(tcp::socket socket) {
    ++strangers_;
    Shake(
        std::move(socket), Side::kAnswers, options_.stranger_limit,
        [this](const std::string& why) {
          --strangers_;
          ++dropped_;
          last_dropped_ = why;
        },
        [this](Handshake::Known known) {
          --strangers_;
          Admit(std::move(known));
        });
  }

  void Dial(int64_t rank) {
    auto socket = std::make_shared<tcp::socket>(io_);
    auto resolver = std::make_shared<tcp::resolver>(io_);
    const auto [host, port] = SplitAddress(peers_[static_cast<size_t>(rank)]);
    resolver->async_resolve(
        host, port,
        [this, rank, socket, resolver](const ErrorCode& error,
                                       const tcp::resolver::results_type& at) {
          if (error) return DialAgain(rank, error.message());
          boost::asio::async_connect(
              *socket, at,
              [this, rank, socket](const ErrorCode& failed,
                                   const tcp::endpoint&) {
                if (failed) return DialAgain(rank, failed.message());
                Greet(rank, std::move(*socket));
              });
        });
  }

  void DialAgain(int64_t rank, const std::string& why) {
    last_words_[static_cast<size_t>(rank)] = why;
    auto timer = std::make_shared<boost::asio::steady_timer>(io_);
    timer->expires_after(kBeforeNextTry);
    timer->async_wait([this, rank, timer](const ErrorCode&) { Dial(rank); });
  }

  void Greet(int64_t rank, tcp::socket socket) {
    // One that is only slow is not dialled a second time.
    Shake(
        std::move(socket), Side::kDials, options_.limit,
        [this, rank](const std::string& why) { DialAgain(rank, why); },
        [this, rank](Handshake::Known known) {
          if (known.theirs.version == kProtocolVersion &&
              known.theirs.rank != rank) {
            return Refuse(peers_[static_cast<size_t>(rank)] + " is rank " +
                          std::to_string(known.theirs.rank) + ", rank " +
                          std::to_string(rank) + " was expected there");
          }
          Admit(std::move(known));
        });
  }

  template <typename Dropped, typename Admitted>
  void Shake(tcp::socket socket, Side side, milliseconds limit, Dropped dropped,
             Admitted admitted) {
    std::make_shared<Handshake>(
        std::move(socket), side, options_.introduction, options_.secret, limit,
        [dropped = std::move(dropped), admitted = std::move(admitted)](
            std::variant<Handshake::Known, std::string> outcome) {
          if (auto* known = std::get_if<Handshake::Known>(&outcome)) {
            return admitted(std::move(*known));
          }
          dropped(std::get<std::string>(outcome));
        })
        ->Begin();
  }

  void Admit(Handshake::Known known) {
    const std::string why = WhyNotTogether(options_.introduction, known.theirs);
    if (!why.empty()) return Refuse(why);
    auto& place = sockets_[static_cast<size_t>(known.theirs.rank)];
    if (place) {
      return Refuse("two processes say that they are rank " +
                    std::to_string(known.theirs.rank));
    }
    ErrorCode ignored;
    known.socket.set_option(tcp::no_delay(true), ignored);
    place = std::make_unique<tcp::socket>(std::move(known.socket));
    --missing_;
  }

  void Refuse(const std::string& why) {
    if (!refusal_) refusal_ = why;
  }

  std::string WhoIsMissing() const {
    std::string text;
    for (size_t rank = 0; rank < peers_.size(); ++rank) {
      if (sockets_[rank] ||
          static_cast<int64_t>(rank) == options_.introduction.rank) {
        continue;
      }
      text += (text.empty() ? "rank " : ", rank ") + std::to_string(rank) +
              " (" + peers_[rank];
      if (!last_words_[rank].empty()) text += ": " + last_words_[rank];
      text += ")";
    }
    text += " did not come within " +
            std::to_string(options_.limit.count() / 1000) + " s";
    if (dropped_ > 0) {
      text += "; dropped " + std::to_string(dropped_) +
              " that came, the last since " + last_dropped_;
    }
    return text;
  }

  boost::asio::io_context& io_;
  tcp::acceptor& acceptor_;
  const std::vector<std::string>& peers_;
  const MeetingOptions& options_;
  steady_clock::time_point deadline_;
  std::vector<std::unique_ptr<tcp::socket>> sockets_;
  std::vector<std::string> last_words_;  // of those that are dialled
  std::optional<std::string> refusal_;
  std::string last_dropped_;
  size_t missing_ = 0;
  size_t strangers_ = 0;
  size_t dropped_ = 0;
};

}  // namespace

std::pair<std::string, std::string> SplitAddress(const std::string& address) {
  const size_t colon = address.rfind(':');
  const std::string port =
      colon == std::string::npos ? "" : address.substr(colon + 1);
  std::string host = address.substr(0, std::min(colon, address.size()));
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  const bool several = host.find(':') != std::string::npos;
  if (host.empty() || host.size() > 255 || several != brackets ||
      !IsNumber(port)) {
    throw SetUpError("\"" + address + "\" is no address of the form HOST:PORT");
  }
  return {host, port};
}

struct Meeting::Place {
  std::unique_ptr<boost::asio::io_context> io =
      std::make_unique<boost::asio::io_context>();
  std::optional<tcp::acceptor> acceptor;
};

Meeting::Meeting(const std::string& address)
    : place_(std::make_unique<Place>()) {
  const auto [host, port] = SplitAddress(address);
  place_->acceptor.emplace(ListenAt(*place_->io, host, port));
  address_ = address.substr(0, address.size() - port.size()) +
             std::to_string(place_->acceptor->local_endpoint().port());
}

Meeting::~Meeting() = default;

std::unique_ptr<Ring> Meeting::Join(const std::vector<std::string>& peers,
                                    MeetingOptions options) {
  if (static_cast<int64_t>(peers.size()) != options.introduction.size) {
    throw SetUpError(std::to_string(peers.size()) + " addresses for " +
                     std::to_string(options.introduction.size) + " ranks");
  }
  Gathering gathering(*place_->io, *place_->acceptor, peers, options);
  auto mesh = MoveToOwnThread(gathering.Wait());
  place_->acceptor->close();
  return std::make_unique<Ring>(std::move(mesh),
                                RingOptions{.rank = options.introduction.rank,
                                            .size = options.introduction.size,
                                            .limit = options.operation_limit,
                                            .waits = options.waits});
}

}  // namespace leadline::collective
