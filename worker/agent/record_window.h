// What was sent of one attempt's records and what the coordinator has on disk.

#pragma once

#include <cstdint>
#include <deque>

namespace leadline::agent {

/// Sequences count from 1, without gaps. A value, pure bookkeeping.
class RecordWindow {
 public:
  /// The next record to send.
  int64_t next() const { return sent_ + 1; }
  int64_t sent() const { return sent_; }
  int64_t acknowledged() const { return acknowledged_; }

  /// False while a mebibyte is on its way: the rest waits in the event file.
  bool HasRoom() const { return in_flight_bytes_ < kMostInFlightBytes; }

  /// Records next()..last were sent in one message.
  void Send(int64_t last, int64_t bytes);

  /// The coordinator has all up to `sequence`; what was known before, and what
  /// was never sent, changes nothing.
  void Acknowledge(int64_t sequence);

  /// On a new stream: all after `acknowledged` is sent again.
  void Restart(int64_t acknowledged);

  static constexpr int64_t kMostInFlightBytes = 1 << 20;

 private:
  struct Batch {
    int64_t last;
    int64_t bytes;
  };

  int64_t sent_ = 0;
  int64_t acknowledged_ = 0;
  int64_t in_flight_bytes_ = 0;
  std::deque<Batch> batches_;
};

}  // namespace leadline::agent
