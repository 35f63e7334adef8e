// Threads for what a handler must not do itself: reading files and the store.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include <absl/base/thread_annotations.h>

namespace leadline::rpc {

/// Thread-safe. Every task that was posted runs, also those that wait when it
/// stops: they look at the token and answer briefly.
class Background {
 public:
  using Task = std::function<void(const std::stop_token&)>;

  explicit Background(int threads);
  ~Background();

  void Post(Task task);

  /// Asks running tasks to be brief. Does not wait.
  void RequestStop();

 private:
  void Run();

  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;
};

}  // namespace leadline::rpc
