// The operations of ranks that are joined in a ring, one after the other, by a
// thread of its own.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "worker/collective/ring/frame.h"

namespace leadline::collective {

struct Mesh;

struct RingOptions {
  int64_t rank = 0;
  int64_t size = 1;
  /// Within which an operation ends, from when it is the first that is left.
  std::chrono::milliseconds limit{30'000};
  /// True while this rank waits for something outside that all others shall
  /// wait for too, however long: they hear it with every beat. Called by the
  /// ring's thread.
  std::function<bool()> waits = [] { return false; };
};

/// Ranks make the same calls in the same order. Owned by one thread; its own
/// moves the bytes. All ranks are connected with all, so that one that is lost
/// is named by each of the others; values go around the ring alone.
class Ring {
 public:
  Ring(std::unique_ptr<Mesh> mesh, const RingOptions& options);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  /// Takes leave of the others, for which it waits a second at most.
  ~Ring();

  struct Order {
    Task task = Task::kMeet;
    Element element = Element::kByte;
    uint32_t root = 0;
    int64_t step = 0;
    std::span<std::byte> values{};       // overwritten by the result
    std::shared_ptr<const void> keep{};  // what the values live in
    /// In place of the limit of all, for what may wait for another rank's work.
    std::chrono::milliseconds limit{0};
  };

  /// Returns at once with the operation's number; the values are not to be
  /// touched until it is done.
  uint64_t Start(Order order);

  /// Returns once it is done. Throws OperationError that names the operation
  /// and the rank that is to blame; then nothing more can be done.
  void Wait(uint64_t number);

  /// Tells the others why this rank goes no further, and nothing else is done.
  /// Thread-safe.
  void Abort(const std::string& reason);

  /// What is known of the others without asking them.
  struct Outlook {
    std::string failure{};     // what ended all operations, or empty
    std::string lost{};        // "rank 2 is gone: ...", or empty
    bool others_wait = false;  // for something outside, as RingOptions say
  };
  /// Thread-safe.
  Outlook Look() const;

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

}  // namespace leadline::collective
