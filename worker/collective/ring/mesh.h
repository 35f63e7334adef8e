// Connected sockets, one a peer. For Meeting, which makes it, and Ring.

#pragma once

#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace leadline::collective {

struct Mesh {
  std::unique_ptr<boost::asio::io_context> io;
  /// By rank; a rank has none to itself.
  std::vector<std::unique_ptr<boost::asio::ip::tcp::socket>> sockets;
};

}  // namespace leadline::collective
