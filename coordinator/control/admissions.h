// Submissions too large for one turn: their sweeps are stored part by part, out
// of sight, one after the other, and are there once the last part is.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/command.h"
#include "coordinator/control/fold.h"
#include "coordinator/control/sinks.h"
#include "storage/store.h"

namespace leadline::control {

class Admissions {
 public:
  /// A part has at most about so many trials.
  explicit Admissions(int64_t most_trials) : most_trials_(most_trials) {}

  /// True if it must not be applied in one step.
  bool MustWait(const Command& command) const;
  void Add(Envelope envelope) { waiting_.push_back(std::move(envelope)); }

  bool IsEmpty() const { return waiting_.empty(); }
  /// The sweep that is on its way; null if none is.
  std::optional<SweepId> Number() const;

  /// The oldest: a SubmitSweep.
  Envelope& First() { return waiting_.front(); }
  void Begin(SweepId number);
  /// What is to be stored next of it, the same until Taken; null: all is.
  const storage::Change* NextPart();
  void Taken();
  /// The oldest, with its sweep if all of that is stored.
  Envelope Take();

  /// Answers all.
  void Refuse(const absl::Status& status);

 private:
  const int64_t most_trials_;
  std::deque<Envelope> waiting_;
  // Of the first:
  std::optional<SweepId> number_;
  std::shared_ptr<StagedSweep> staged_;
  size_t next_cell_ = 0;
  size_t cells_ = 0;  // of the part
  std::optional<storage::Change> part_;
};

}  // namespace leadline::control
