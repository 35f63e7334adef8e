// What others use of GPUs, asked for away from the thread that renews leases: a
// driver may take seconds to answer.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>

#include "worker/agent/device_prober.h"

namespace leadline::agent {

/// One answer for all who ask, as long as it is new; the driver is asked at
/// most once a second, and only while somebody wants to know. Called from one
/// thread.
class GpuWatch {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// The prober is asked on a thread of this; the clock is called from both.
  explicit GpuWatch(
      std::unique_ptr<DeviceProber> prober,
      std::function<SteadyTime()> clock = std::chrono::steady_clock::now)
      : prober_(std::move(prober)), clock_(std::move(clock)) {}

  /// What was found in the last second, by a look that began at `since` or
  /// later. Null: not known yet; ask again soon.
  std::optional<absl::StatusOr<GpuList>> Latest(SteadyTime since);

  /// For how long the driver has been asked by now; zero if it is not.
  SteadyTime::duration Asking() const;

 private:
  void Run(const std::stop_token& stop);

  const std::unique_ptr<DeviceProber> prober_;
  const std::function<SteadyTime()> clock_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;  // from then until the answer
  SteadyTime asked_ ABSL_GUARDED_BY(mutex_);     // when it was wanted
  SteadyTime answered_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::StatusOr<GpuList>> answer_ ABSL_GUARDED_BY(mutex_);
  std::jthread thread_;  // from the first question on; last: it uses all above
};

}  // namespace leadline::agent
