// Retries of sweeps that are not in memory any more: they are read from the
// store part by part, one retry after the other.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/fold.h"
#include "coordinator/control/sinks.h"
#include "storage/store.h"

namespace leadline::control {

class Recalls {
 public:
  /// A part has at most about so many trials.
  explicit Recalls(int64_t most_trials) : most_trials_(most_trials) {}

  /// A RetryTargets, and what is to be read for it.
  void Add(Envelope envelope, std::vector<SweepId> sweeps);

  bool IsEmpty() const { return waiting_.empty(); }
  bool Concerns(SweepId sweep) const;

  /// Reads a part for the oldest; true if that has all of its sweeps now.
  absl::StatusOr<bool> ReadSome(const storage::Store& store);
  /// The oldest, with them.
  Envelope Take();

  /// Answers all.
  void Refuse(const absl::Status& status);

 private:
  struct Recall {
    Envelope envelope;
    std::deque<SweepId> to_read;  // the first may be there in part
    std::shared_ptr<RecalledSweep> reading;
    std::vector<SweepId> sweeps;
  };

  /// How many trials that were; none once all of the sweep has been read.
  absl::StatusOr<int64_t> ReadPart(const storage::Store& store, Recall& recall,
                                   int64_t most) const;

  const int64_t most_trials_;
  std::deque<Recall> waiting_;
};

}  // namespace leadline::control
