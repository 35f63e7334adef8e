// How the ranks of an attempt find each other over TCP.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "worker/collective/ring/introduction.h"
#include "worker/collective/ring/ring.h"

namespace leadline::collective {

/// Host and port of "HOST:PORT" or "[HOST]:PORT". Throws SetUpError.
std::pair<std::string, std::string> SplitAddress(const std::string& address);

struct MeetingOptions {
  Introduction introduction;
  std::string secret;
  /// Within which all are there, from the call of Join.
  std::chrono::milliseconds limit{60'000};
  /// Within which one who calls says who it is.
  std::chrono::milliseconds stranger_limit{5'000};
  std::chrono::milliseconds operation_limit{30'000};
  /// Called all the time while others are waited for: it may throw.
  std::function<void()> breathe = [] {};
  std::function<bool()> waits = [] { return false; };  // as of RingOptions
};

/// A place where this rank is found, from when it is made. Owned by one thread.
class Meeting {
 public:
  /// Listens at HOST:PORT; port 0: one that is free. Throws SetUpError.
  explicit Meeting(const std::string& address);
  ~Meeting();

  /// The host as it was given, and the port.
  const std::string& address() const { return address_; }

  /// Dials the ranks below, answers those above, and joins all in a ring;
  /// `peers` are the addresses by rank. Who does not know the secret is
  /// dropped, and others are waited for. Throws SetUpError when the time is
  /// over, and at once where a rank does not belong to this attempt. To be
  /// called once.
  std::unique_ptr<Ring> Join(const std::vector<std::string>& peers,
                             MeetingOptions options);

 private:
  struct Place;
  std::string address_;
  std::unique_ptr<Place> place_;
};

}  // namespace leadline::collective
