// Ranks of the stand-in for NCCL that were invited by one id.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace leadline::test {

/// Thread-safe.
class FakeWorld {
 public:
  explicit FakeWorld(int size) : size_(size) {}

  struct Work {
    bool sums = true;
    int type = 0;
    int root = 0;
    size_t count = 0;
    void* values = nullptr;
    bool operator==(const Work& other) const {
      return sums == other.sums && type == other.type && root == other.root &&
             count == other.count;
    }
  };

  void Enter();
  void Leave();  // in order
  bool AllAreIn() const;
  bool AllHaveLeft() const;

  /// What the device of `rank` does: returns when all ranks have come and the
  /// work is done, or when this rank was aborted. Work that differs never ends.
  void Do(int rank, int number, const Work& work);
  void Abort(int rank);
  /// Returns when this rank was aborted.
  void HangUntilAbort(int rank);

 private:
  struct Meeting {
    std::map<int, Work> of_rank;
    bool done = false;
  };
  static void Finish(Meeting& meeting);

  const int size_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int in_ = 0;
  int left_ = 0;
  std::map<int, Meeting> meetings_;  // by number of the operation
  std::vector<bool> aborted_ = std::vector<bool>(static_cast<size_t>(size_));
};

}  // namespace leadline::test
