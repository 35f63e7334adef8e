// Lets the writer have the database to itself for a moment: a write-ahead log
// starts anew only while nobody reads what is in it.

#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace leadline::storage::sqlite {

/// Thread-safe.
class ReadGate {
 public:
  /// A read begins; waits while the gate is shut.
  void Enter();
  void Leave();

  /// Lets no read begin any more and waits until those that go on have ended;
  /// false if they have not within `time`. Open it in both cases.
  bool Shut(std::chrono::milliseconds time);
  void Open();

 private:
  std::mutex mutex_;  // over all below
  std::condition_variable changed_;
  bool is_shut_ = false;
  int inside_ = 0;
};

}  // namespace leadline::storage::sqlite
