// One connection on which two sides make sure of each other. For Meeting.

#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <variant>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "worker/collective/ring/introduction.h"

namespace leadline::collective {

/// Lives as long as its handlers; ends with one call of `done`.
class Handshake : public std::enable_shared_from_this<Handshake> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  /// Of one who knows the secret; what it says of itself is not judged.
  struct Known {
    Socket socket;
    Introduction theirs;
  };
  /// A known one, or why the connection was dropped.
  using Done = std::function<void(std::variant<Known, std::string>)>;

  Handshake(Socket socket, Side side, const Introduction& mine,
            const std::string& secret, std::chrono::milliseconds limit,
            Done done);

  void Begin();

 private:
  void SendHello();
  void ReadHello();
  void SendIntroduction();
  void ReadSize();
  void ReadIntroduction(size_t size);
  void Judge();
  void Finish(std::variant<std::monostate, std::string> outcome);
  void Drop(const std::string& why) { Finish(why); }

  Socket socket_;
  boost::asio::steady_timer timer_;
  Side side_;
  Introduction mine_;
  std::string secret_;
  std::chrono::milliseconds limit_;
  Done done_;
  Nonce own_nonce_;
  Nonce their_nonce_{};
  Hello hello_out_, hello_in_{};
  std::string out_;
  std::array<std::byte, 4> size_{};
  std::string in_;
  Introduction theirs_;
  bool over_ = false;
};

}  // namespace leadline::collective
