// Ctrl-C and its like.

#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

namespace leadline::cli {

/// Takes SIGINT, SIGTERM and SIGHUP from the whole process: make it before any
/// other thread. A signal ends the program with exit code 130 at once, unless
/// Defer was called: then the first one only sets `happened`, and the second
/// ends the program. Thread-safe.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// From now on the caller looks at `happened` and ends by itself.
  void Defer() { deferred_ = true; }

  bool happened() const { return happened_; }

  /// What stands on standard error when a signal ends the program at once.
  void SetLastWords(std::string text);

 private:
  void Listen();
  [[noreturn]] void EndProgram();

  std::atomic<bool> deferred_ = false;
  std::atomic<bool> happened_ = false;
  int signals_ = -1;
  int ended_ = -1;
  std::mutex mutex_;
  std::string last_words_;  // guarded by mutex_
  std::jthread thread_;
};

}  // namespace leadline::cli
