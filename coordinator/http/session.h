// One connection: a request is read, answered and written, then the next.

#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "coordinator/http/limits.h"
#include "coordinator/http/reply.h"
#include "coordinator/http/routes.h"

namespace leadline::http {

inline constexpr std::chrono::milliseconds kLinger{1000};

/// True for a layer of TLS, which begins with a handshake.
template <typename Stream>
struct IsEncrypted : std::false_type {};
template <typename Next>
struct IsEncrypted<boost::beast::ssl_stream<Next>> : std::true_type {};

/// What sessions share; outlives them.
struct SessionParts {
  const Routes& routes;
  const Limits& limits;
  boost::asio::thread_pool& answering;
  std::function<void(const Answered&)> on_answered;
};

/// Owned by the thread that reads and writes. `Stream` is a beast::tcp_stream
/// or a layer over one. It keeps itself alive while it has something to do.
template <typename Stream>
class Session : public std::enable_shared_from_this<Session<Stream>> {
 public:
  /// `open` counts sessions of its kind.
  Session(Stream stream, std::string peer, const SessionParts& parts,
          size_t& open)
      : stream_(std::move(stream)),
        peer_(std::move(peer)),
        parts_(parts),
        open_(open) {
    ++open_;
  }

  ~Session() { --open_; }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Begin() {
    if constexpr (IsEncrypted<Stream>::value) {
      Shake();
    } else {
      Read(parts_.limits.request);
    }
  }

  /// Says once that there is no room, and ends.
  void TurnAway() {
    Write({TextResponse(503, "too many connections; try again"), kOtherRoute},
          false, true);
  }

 private:
  using ErrorCode = boost::beast::error_code;

  /// Of TLS; has the time of a request.
  void Shake() {
    boost::beast::get_lowest_layer(stream_).expires_after(
        parts_.limits.request);
    stream_.async_handshake(boost::asio::ssl::stream_base::server,
                            [self = this->shared_from_this()](ErrorCode error) {
                              if (!error)
                                self->Read(self->parts_.limits.request);
                            });
  }

  void Read(std::chrono::milliseconds time) {
    parser_.emplace();
    parser_->header_limit(static_cast<uint32_t>(parts_.limits.header_bytes));
    parser_->body_limit(parts_.limits.body_bytes);
    // One deadline for the whole request: bytes that drip do not move it.
    boost::beast::get_lowest_layer(stream_).expires_after(time);
    boost::beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](ErrorCode error, size_t) {
          self->OnRead(error);
        });
  }

  void OnRead(ErrorCode error) {
    if (error) {
      const auto refusal = RefusalOf(error);
      if (refusal) Write({*refusal, kOtherRoute}, false, true);
      return;  // else it is gone, or was too slow
    }
    const auto& message = parser_->get();
    const bool is_head = message.method() == boost::beast::http::verb::head;
    const bool closes = !message.keep_alive();
    if (const auto refusal = RefusalOf(message)) {
      return Write({*refusal, kOtherRoute}, is_head, closes);
    }
    Answer(RequestOf(message, peer_), is_head, closes);
  }

  void Answer(Request request, bool is_head, bool closes) {
    // The reference moves along: the last one must end on our own thread.
    boost::asio::post(
        parts_.answering, [self = this->shared_from_this(), is_head, closes,
                           request = std::move(request)]() mutable {
          Answered answered = self->parts_.routes.Answer(request);
          auto executor = self->stream_.get_executor();
          boost::asio::post(executor,
                            [self = std::move(self), is_head, closes,
                             answered = std::move(answered)]() mutable {
                              self->Write(std::move(answered), is_head, closes);
                            });
        });
  }

  void Write(Answered answered, bool is_head, bool closes) {
    if (parts_.on_answered) parts_.on_answered(answered);
    reply_ = ReplyOf(std::move(answered.response), is_head, closes);
    boost::beast::get_lowest_layer(stream_).expires_after(parts_.limits.answer);
    boost::beast::http::async_write(
        stream_, *reply_,
        [self = this->shared_from_this(), closes](ErrorCode error, size_t) {
          if (error) return;
          if (closes) return self->Close();
          self->Read(self->parts_.limits.next_request);
        });
  }

  /// What it still sends is read for a moment: else the system would take back
  /// the answer together with the connection.
  void Close() {
    ErrorCode ignored;
    auto& lowest = boost::beast::get_lowest_layer(stream_);
    lowest.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send,
                             ignored);
    lowest.expires_after(kLinger);
    Drain();
  }

  void Drain() {
    boost::beast::get_lowest_layer(stream_).async_read_some(
        boost::asio::buffer(drained_),
        [self = this->shared_from_this()](ErrorCode error, size_t) {
          if (!error) self->Drain();
        });
  }

  Stream stream_;
  const std::string peer_;
  const SessionParts& parts_;
  size_t& open_;
  std::array<char, 4096> drained_{};
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::optional<Reply> reply_;
};

}  // namespace leadline::http
