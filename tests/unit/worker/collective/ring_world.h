// Ranks of one process, each on a thread of its own, over loopback.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "worker/collective/ring/collective_error.h"
#include "worker/collective/ring/meeting.h"

namespace leadline::collective {

/// Ranks that differ only in what a test changes.
class RingWorld {
 public:
  explicit RingWorld(int64_t size);

  MeetingOptions& options(int64_t rank) { return options_[rank]; }
  const std::string& address(int64_t rank) const { return addresses_[rank]; }
  void set_address(int64_t rank, const std::string& address) {
    addresses_[rank] = address;
  }

  /// Lets the ranks meet; those of `absent` do not come. Empty where one threw;
  /// Errors then says why.
  std::vector<std::unique_ptr<Ring>> Join(
      const std::vector<int64_t>& absent = {});
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  std::vector<std::unique_ptr<Meeting>> meetings_;
  std::vector<std::string> addresses_;
  std::vector<MeetingOptions> options_;
  std::vector<std::string> errors_;
};

/// Rings of ranks that need not meet first: their sockets are connected by
/// hand.
std::vector<std::unique_ptr<Ring>> LinkedRings(int64_t size);

/// Rank 0 of two; the other is a bare connection, which can be lost.
class RingOfOne {
 public:
  RingOfOne();

  Ring& ring() { return *ring_; }
  void LoseTheOther() { other_.close(); }

 private:
  boost::asio::io_context io_;
  boost::asio::ip::tcp::socket other_{io_};
  std::unique_ptr<Ring> ring_;
};

/// Calls `act` for each rank at once, and returns what each threw, or "".
std::vector<std::string> OnAllRanks(
    size_t size, const std::function<void(int64_t rank)>& act);

}  // namespace leadline::collective
