// Whether the coordinator lives and takes work, for probes.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include <absl/base/thread_annotations.h>

#include "coordinator/control/moment.h"

namespace leadline {

/// Thread-safe. Empty answers mean that all is well.
class Health {
 public:
  /// As of control::Observer.
  void OnTurn(control::SteadyTime now, const std::string& refusal);

  /// Control stands still for so long that only a restart may help.
  std::string WhyNotAlive(control::SteadyTime now) const;

  /// Nothing goes on right now: the store refuses, or control is slow.
  std::string WhyNotReady(control::SteadyTime now) const;

 private:
  std::string WhySilent(control::SteadyTime now, control::Seconds most) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable std::mutex mutex_;
  control::SteadyTime turned_at_ ABSL_GUARDED_BY(mutex_){};  // none yet
  std::string refusal_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace leadline
