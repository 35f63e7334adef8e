// How a trainer becomes one of the ranks of its attempt.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "model/spec/identity.h"
#include "worker/collective/communicator.h"
#include "worker/collective/nccl/device_queue.h"
#include "worker/collective/nccl/library.h"
#include "worker/collective/ring/meeting.h"
#include "worker/trainer/run_control.h"

namespace leadline::trainer {

/// The file in a rank's folder that says where it is found: HOST:PORT and a
/// line feed, there as a whole or not at all.
inline constexpr const char* kAddressFile = "address";

/// What ranks on devices need to reach theirs. Those on CPUs need nothing.
struct DeviceAccess {
  /// Called by the thread that trains.
  std::function<std::shared_ptr<collective::DeviceQueue>()> open_queue;
  /// Ends the process, which is held by a call that never returns.
  std::function<void(const std::string& why)> last_resort =
      [](const std::string&) {};
  std::string nccl = collective::nccl::kLibraryName;
};

/// Of several ranks, finds the others; of one, nothing. Owned by one thread.
class Rendezvous {
 public:
  /// Listens, and where an order is to name the peers writes the address file.
  /// Throws SetUpError, or std::system_error if the file cannot be written.
  explicit Rendezvous(const spec::TrainerConfig& config,
                      DeviceAccess devices = {});
  ~Rendezvous();

  /// Waits for all ranks. Throws SetUpError if they are not there in time or
  /// belong to another attempt, and Stopped. `control` must outlive what is
  /// returned.
  std::unique_ptr<collective::Communicator> Meet(const RunControl& control);

 private:
  std::vector<std::string> AwaitPeers(const RunControl& control) const;
  std::unique_ptr<collective::Communicator> JoinDevices(
      std::unique_ptr<collective::Ring> ring, const RunControl& control) const;

  const spec::TrainerConfig& config_;
  DeviceAccess devices_;
  std::chrono::steady_clock::time_point begin_;
  std::unique_ptr<collective::Meeting> meeting_;  // of several ranks
};

/// A hash of what all ranks of an attempt have in common and rest on.
std::string CommonHash(const spec::TrainerConfig& config);

}  // namespace leadline::trainer
