// A stream from the coordinator, read with deadlines.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/client_callback.h>

namespace leadline::cli {

/// What Stream::Next found.
enum class StreamEvent { kMessage, kTimeout, kEnd };

/// Reads the messages of one server stream. Ends the call when destroyed.
/// Owned by one thread; gRPC's threads only fill it.
template <class Message>
class Stream final : private grpc::ClientReadReactor<Message> {
 public:
  using Reactor = grpc::ClientReadReactor<Message>;
  using Clock = std::chrono::steady_clock;

  /// `start` hands context and reactor to a stub's async call.
  explicit Stream(
      const std::function<void(grpc::ClientContext*, Reactor*)>& start) {
    start(&context_, this);
    // Reads are started from outside gRPC's reactions, which needs a hold.
    this->AddHold();
    this->StartRead(&incoming_);
    this->StartCall();
  }

  ~Stream() override {
    Cancel();
    std::unique_lock lock(mutex_);
    closing_ = true;
    if (full_) {
      lock.unlock();
      this->RemoveHold();
      lock.lock();
    }
    changed_.wait(lock, [this] { return done_; });
  }

  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Waits for the next message until `deadline`. After kEnd, `status` tells
  /// why.
  StreamEvent Next(Message* message, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [this] { return full_ || done_; });
    if (full_) {
      *message = std::move(incoming_);
      full_ = false;
      lock.unlock();
      this->StartRead(&incoming_);
      return StreamEvent::kMessage;
    }
    return done_ ? StreamEvent::kEnd : StreamEvent::kTimeout;
  }

  /// Meaningful after kEnd.
  const grpc::Status& status() const { return status_; }

  void Cancel() { context_.TryCancel(); }

 private:
  void OnReadDone(bool ok) override {
    {
      const std::lock_guard lock(mutex_);
      if (ok && !closing_) {
        full_ = true;
        changed_.notify_all();
        return;
      }
    }
    this->RemoveHold();
  }

  void OnDone(const grpc::Status& status) override {
    const std::lock_guard lock(mutex_);
    status_ = status;
    done_ = true;
    changed_.notify_all();
  }

  grpc::ClientContext context_;
  Message incoming_;  // gRPC's while full_ is false
  std::mutex mutex_;
  std::condition_variable changed_;
  bool full_ = false;
  bool done_ = false;
  bool closing_ = false;
  grpc::Status status_;
};

}  // namespace leadline::cli
