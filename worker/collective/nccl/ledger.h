// Whether all ranks asked the same of their devices.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "worker/collective/ring/ring.h"

namespace leadline::collective::nccl {

/// NCCL compares nothing: ranks whose operations differ hang, or get wrong
/// values. So they compare what they have begun, once a step and before any
/// result. Borrows the ring. Owned by one thread.
class Ledger {
 public:
  Ledger(Ring& ring, int64_t rank, int64_t size)
      : ring_(ring), rank_(rank), size_(size) {}

  void Note(const Operation& operation);

  /// Tells the others what was noted by now, and compares what was told last.
  /// Throws OperationError that names the first rank that differs.
  void Exchange(int64_t step);

  /// Compares what was told last, if it was not compared yet. Throws as above.
  void Compare();

 private:
  Ring& ring_;
  int64_t rank_;
  int64_t size_;
  uint64_t digest_ = 14695981039346656037U;     // FNV-1a's beginning
  std::shared_ptr<std::vector<int64_t>> told_;  // by rank; the ring may hold it
  int64_t step_ = 0;
  std::optional<uint64_t> operation_;
};

}  // namespace leadline::collective::nccl
