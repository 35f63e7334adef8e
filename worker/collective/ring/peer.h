// One of the other ranks, as the thread of a ring sees it.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include <boost/asio/ip/tcp.hpp>

#include "worker/collective/ring/frame.h"

namespace leadline::collective {

/// Owned by the thread that runs the sockets, and by no other.
struct Peer {
  Peer(int64_t its_rank, boost::asio::ip::tcp::socket its_socket)
      : rank(its_rank), socket(std::move(its_socket)) {}

  struct Outgoing {
    FrameHead head{};
    std::span<const std::byte> values{};  // of an operation
    std::string reason{};                 // of an abort
    bool is_data = false;
  };

  int64_t rank;
  boost::asio::ip::tcp::socket socket;
  FrameHead head{};  // that is being read
  Frame frame;       // the last that was read
  std::string reason;
  std::deque<Outgoing> outgoing;
  bool writing = false;
  bool held = false;     // its data has come too early
  bool waits = false;    // for something outside, as its last beat said
  bool left = false;     // it takes part in nothing more
  uint64_t through = 0;  // operations that it had done when it left
  bool gone = false;     // its connection has ended
  std::chrono::steady_clock::time_point heard;
  uint64_t begun = 0;  // operations that it is known to have begun
};

/// "rank 2"
inline std::string RankText(const Peer& peer) {
  return "rank " + std::to_string(peer.rank);
}

}  // namespace leadline::collective
