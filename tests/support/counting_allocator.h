// Counts the bytes of all tensors on the CPU.

#pragma once

#include <cstdint>

namespace leadline::testing {

/// From its first use on, every tensor made in this process is counted until it
/// is freed. Bytes as asked for; what the process holds beside tensors is not
/// in them. Threads may allocate meanwhile.
class TensorBytes {
 public:
  /// Starts a measurement: live bytes count from here, and so does their peak.
  TensorBytes();

  /// Bytes alive now, less those at the start.
  int64_t Live() const;
  /// The largest number alive at once since the start.
  int64_t Peak() const;

 private:
  int64_t start_;
};

}  // namespace leadline::testing
