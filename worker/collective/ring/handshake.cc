#include "worker/collective/ring/handshake.h"

#include <utility>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "worker/collective/ring/byte_order.h"

namespace leadline::collective {
namespace {

using ErrorCode = boost::system::error_code;

}  // namespace

Handshake::Handshake(Socket socket, Side side, const Introduction& mine,
                     const std::string& secret, std::chrono::milliseconds limit,
                     Done done)
    : socket_(std::move(socket)),
      timer_(socket_.get_executor()),
      side_(side),
      mine_(mine),
      secret_(secret),
      limit_(limit),
      done_(std::move(done)),
      own_nonce_(FreshNonce()),
      hello_out_(EncodeHello(own_nonce_)) {}

void Handshake::Begin() {
  timer_.expires_after(limit_);
  timer_.async_wait([self = shared_from_this()](const ErrorCode& error) {
    if (!error) self->Drop("it did not say who it is in time");
  });
  SendHello();
}

void Handshake::SendHello() {
  boost::asio::async_write(
      socket_, boost::asio::buffer(hello_out_),
      [self = shared_from_this()](const ErrorCode& error, size_t) {
        if (error) return self->Drop(error.message());
        self->ReadHello();
      });
}

void Handshake::ReadHello() {
  boost::asio::async_read(
      socket_, boost::asio::buffer(hello_in_),
      [self = shared_from_this()](const ErrorCode& error, size_t) {
        if (error) return self->Drop(error.message());
        const auto nonce = DecodeHello(self->hello_in_);
        if (!nonce) return self->Drop("it is no rank");
        self->their_nonce_ = *nonce;
        self->SendIntroduction();
      });
}

void Handshake::SendIntroduction() {
  const std::string body = EncodeBody(mine_);
  std::array<std::byte, 4> size{};
  PutNumber(size.data(), body.size(), size.size());
  out_.assign(reinterpret_cast<const char*>(size.data()), size.size());
  out_ += body;
  out_ += CodeOf(secret_, side_, own_nonce_, their_nonce_, body);
  boost::asio::async_write(
      socket_, boost::asio::buffer(out_),
      [self = shared_from_this()](const ErrorCode& error, size_t) {
        if (error) return self->Drop(error.message());
        self->ReadSize();
      });
}

void Handshake::ReadSize() {
  boost::asio::async_read(
      socket_, boost::asio::buffer(size_),
      [self = shared_from_this()](const ErrorCode& error, size_t) {
        if (error) return self->Drop(error.message());
        const uint64_t size = GetNumber(self->size_.data(), 4);
        if (size > kMostIntroductionBytes) return self->Drop("it is no rank");
        self->ReadIntroduction(size + kCodeBytes);
      });
}

void Handshake::ReadIntroduction(size_t size) {
  in_.resize(size);
  boost::asio::async_read(
      socket_, boost::asio::buffer(in_),
      [self = shared_from_this()](const ErrorCode& error, size_t) {
        if (error) return self->Drop(error.message());
        self->Judge();
      });
}

void Handshake::Judge() {
  const auto body = std::string_view(in_).substr(0, in_.size() - kCodeBytes);
  const Side speaker = side_ == Side::kDials ? Side::kAnswers : Side::kDials;
  const std::string code =
      CodeOf(secret_, speaker, their_nonce_, own_nonce_, body);
  if (!SameCode(code, std::string_view(in_).substr(body.size()))) {
    return Drop("it has another secret");
  }
  const auto theirs = DecodeBody(body);
  if (!theirs) return Drop("it is no rank");
  theirs_ = *theirs;
  Finish(std::monostate());
}

void Handshake::Finish(std::variant<std::monostate, std::string> outcome) {
  if (std::exchange(over_, true)) return;
  timer_.cancel();
  if (const auto* why = std::get_if<std::string>(&outcome)) {
    ErrorCode ignored;
    socket_.close(ignored);
    return done_(*why);
  }
  done_(Known{std::move(socket_), std::move(theirs_)});
}

}  // namespace leadline::collective
