// A bounded queue between threads.

#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <absl/base/thread_annotations.h>

namespace leadline::agent {

/// First in, first out. Thread-safe.
template <typename T>
class Mailbox {
 public:
  explicit Mailbox(size_t capacity) : capacity_(capacity) {}

  /// Waits for room. False, and the value dropped, once the box is closed.
  bool Push(T value) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || values_.size() < capacity_; });
    if (closed_) return false;
    values_.push_back(std::move(value));
    filled_.notify_one();
    return true;
  }

  /// Null if nothing came until then, or the box is closed and empty.
  std::optional<T> PopUntil(std::chrono::steady_clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    filled_.wait_until(lock, deadline,
                       [&] { return closed_ || !values_.empty(); });
    if (values_.empty()) return std::nullopt;
    T value = std::move(values_.front());
    values_.pop_front();
    room_.notify_one();
    return value;
  }

  /// Lets every waiting thread go.
  void Close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    room_.notify_all();
    filled_.notify_all();
  }

 private:
  const size_t capacity_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable filled_;
  std::deque<T> values_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace leadline::agent
