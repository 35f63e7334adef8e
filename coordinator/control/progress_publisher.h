// Tells those who watch sweeps how far these are: not more often than they can
// read it.

#pragma once

#include <chrono>
#include <map>
#include <set>

#include <absl/status/status.h>

#include "coordinator/control/control.h"
#include "coordinator/control/sinks.h"

namespace leadline::control {

/// Owned by one thread.
class ProgressPublisher {
 public:
  /// `every`: of one sweep, unless it has ended.
  ProgressPublisher(EffectSink& sink, std::chrono::milliseconds every)
      : sink_(sink), every_(every) {}

  /// Their progress is not what it was.
  void Note(std::set<SweepId> touched) { unpublished_.merge(touched); }

  void Publish(const Control& control, SteadyTime now);

  /// Nothing can be stored.
  void TellOfStandstill(const absl::Status& why);

 private:
  /// What was told last of a sweep.
  struct Published {
    SteadyTime at;
    ProgressReport report;
  };

  EffectSink& sink_;
  const std::chrono::milliseconds every_;
  std::set<SweepId> unpublished_;
  std::map<SweepId, Published> published_;
};

}  // namespace leadline::control
