// Commands that were applied and whose changes are not committed yet.

#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "coordinator/control/command.h"
#include "coordinator/control/outcome.h"
#include "coordinator/control/sinks.h"
#include "storage/store.h"

namespace leadline::control {

/// One of them; its changes and orphans are in the batch.
struct Applied {
  Command command;
  Outcome outcome;
  Answered answered;
  size_t changes = 0;  // how many of the batch's are its own
  size_t orphans = 0;
};

/// One transaction.
struct CommitBatch {
  std::vector<storage::Change> changes;
  std::vector<storage::OrphanRecord> orphans;
  std::vector<Applied> applied;
  bool committed = false;  // the changes; the orphans may still wait

  bool IsEmpty() const { return applied.empty(); }

  void Add(Command command, Outcome outcome, Answered answered);

  /// The same, one command a batch.
  std::deque<CommitBatch> Apart() &&;
};

}  // namespace leadline::control
