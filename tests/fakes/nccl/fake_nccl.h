// A libnccl.so.2 without devices: ranks are threads of one process, streams are
// HostStreams, memory is the process's own. It sums and copies for real, later
// than it is asked, and fails as it is told.

#pragma once

#include <cstdint>
#include <string>

namespace leadline::test {

/// Ranks count from 0; -1 stands for all. Functions have NCCL's names.
/// Thread-safe.
class FakeNccl {
 public:
  virtual ~FakeNccl() = default;

  /// Forgets faults and counts; frees calls that hang.
  virtual void Reset() = 0;

  virtual void SetVersion(int version) = 0;

  /// From its `after`+1st call on the function does nothing but return this.
  virtual void Return(const std::string& function, int rank, int result,
                      int after = 0) = 0;

  /// ncclCommGetAsyncError tells this once a rank has begun so many operations.
  virtual void FailLater(int rank, int result, int operations) = 0;

  /// The function begins its work and says ncclInProgress, as do so many
  /// queries after it; -1: for ever.
  virtual void Delay(const std::string& function, int rank, int queries) = 0;

  /// The device never comes to the end of that operation, unless it is aborted.
  virtual void HangOperation(int rank, int number) = 0;

  /// Calls of the function do not return before Reset.
  virtual void HangCalls(const std::string& function, int rank) = 0;

  virtual int64_t Calls(const std::string& function) = 0;
  /// Returns once there were so many of them since Reset.
  virtual void AwaitCalls(const std::string& function, int64_t calls) = 0;
  /// Communicators that were neither destroyed nor aborted.
  virtual int64_t Living() = 0;
  /// Returns once there is none.
  virtual void AwaitNoneLiving() = 0;
};

/// What `fake_nccl` of the library returns.
using FakeNcclFunction = FakeNccl* (*)();

}  // namespace leadline::test
