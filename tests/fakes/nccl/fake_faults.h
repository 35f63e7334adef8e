// What the stand-in for NCCL was told to do wrong, and what it was asked.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "tests/fakes/nccl/fake_nccl.h"

namespace leadline::test {

class FakeFaults final : public FakeNccl {
 public:
  void Reset() override;
  void SetVersion(int version) override;
  void Return(const std::string& function, int rank, int result,
              int after) override;
  void FailLater(int rank, int result, int operations) override;
  void Delay(const std::string& function, int rank, int queries) override;
  void HangOperation(int rank, int number) override;
  void HangCalls(const std::string& function, int rank) override;
  int64_t Calls(const std::string& function) override;
  void AwaitCalls(const std::string& function, int64_t calls) override;
  int64_t Living() override;
  void AwaitNoneLiving() override;

  // ---- For the library
  /// Counts the call and hangs if it shall; what it is to return at once.
  std::optional<int> OnCall(const std::string& function, int rank);
  int version();
  std::optional<int> AsyncFault(int rank, int operations);
  /// Queries that shall say ncclInProgress after this function.
  int DelayOf(const std::string& function, int rank);
  bool Hangs(int rank, int operation);
  void AddLiving(int64_t change);

 private:
  using Place = std::pair<std::string, int>;  // function, rank
  struct Fixed {
    int result = 0;
    int after = 0;
    int calls = 0;
  };
  template <typename Value>
  static Value* Find(std::map<Place, Value>& map, const std::string& function,
                     int rank);

  std::mutex mutex_;
  std::condition_variable changed_;
  int version_ = 22809;
  int64_t living_ = 0;
  int64_t resets_ = 0;
  std::map<std::string, int64_t> calls_;
  std::map<Place, Fixed> returns_;
  std::map<Place, std::pair<int, int>> later_;  // result, operations
  std::map<Place, int> delays_;
  std::map<Place, int> hanging_operations_;
  std::map<Place, bool> hanging_calls_;
};

/// The one of this library.
FakeFaults& Faults();

}  // namespace leadline::test
