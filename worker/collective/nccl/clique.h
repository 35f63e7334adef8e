// The devices of all ranks, joined by NCCL, as one of the ranks sees them.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "worker/collective/nccl/device_queue.h"
#include "worker/collective/nccl/library.h"
#include "worker/collective/ring/frame.h"
#include "worker/collective/ring/ring.h"

namespace leadline::collective::nccl {

struct CliqueOptions {
  int64_t rank = 0;
  int64_t size = 1;
  /// Within which the devices of all ranks are joined.
  std::chrono::milliseconds set_up_limit{60'000};
  /// Within which an operation ends, from when this rank's device came to it.
  std::chrono::milliseconds limit{30'000};
  /// Within which the ranks part at the end.
  std::chrono::milliseconds farewell_limit{5'000};
  /// Between two looks of the watchdog; a tenth of the limit if that is
  /// shorter.
  std::chrono::milliseconds look_period{100};
  /// Called while others are waited for during set-up: it may throw.
  std::function<void()> breathe = [] {};
  /// True while this rank waits for something outside: then no time counts.
  /// Called by the watchdog.
  std::function<bool()> waits = [] { return false; };
  /// Called by the watchdog with the reason, if the owner has not come to hear
  /// of a failure within `patience`: it is held by a call that never returns.
  /// The reason begins with "NCCL init: " until the devices are joined, and
  /// with "NCCL: " from then on.
  std::function<void(const std::string& why)> last_resort =
      [](const std::string&) {};
  std::chrono::milliseconds patience{30'000};
};

/// All ranks make the same calls in the same order. Owned by one thread, which
/// is never held for longer than a limit: a watchdog looks after NCCL, the
/// device and the ring, and aborts where an operation does not come to its end.
/// Whatever fails here, the others hear of over the ring; what fails there ends
/// operations here.
class Clique {
 public:
  /// Nothing is joined yet. `ring` must outlive it.
  Clique(Ring& ring, std::shared_ptr<const Library> library,
         std::shared_ptr<DeviceQueue> queue, CliqueOptions options);
  Clique(const Clique&) = delete;
  Clique& operator=(const Clique&) = delete;
  ~Clique();

  /// Joins the devices. Throws SetUpError, and whatever `breathe` throws; then
  /// it is good for nothing more. To be called once.
  void Join(const UniqueId& id);

  struct Order {
    Task task = Task::kSum;  // or kCopy
    Element element = Element::kFloat32;
    uint32_t root = 0;
    int64_t step = 0;
    void* values = nullptr;  // on the device; overwritten by the result
    uint64_t count = 0;
  };

  /// Returns its number; the values must live and not be touched until Wait.
  /// Throws OperationError, and what the device queue throws.
  uint64_t Start(const Order& order);

  /// Returns once it is done on this rank's device. Throws as Start does. The
  /// message names operation, step and rank; then nothing more can be done.
  void Wait(uint64_t number);

  /// Of NCCL; 22809 is 2.28.9.
  int version() const;

  /// Ends all operations here. May be called any number of times.
  void Abort(const std::string& why);

 private:
  class Watched;
  std::shared_ptr<Watched> watched_;
};

/// Joins the devices of all ranks: rank 0 invites the others over the ring, and
/// it returns once all are there. Throws SetUpError, and whatever `breathe`
/// throws; the others are told.
std::unique_ptr<Clique> JoinClique(Ring& ring, const std::string& library,
                                   std::shared_ptr<DeviceQueue> queue,
                                   const CliqueOptions& options);

}  // namespace leadline::collective::nccl
