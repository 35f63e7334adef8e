// The one base of all streams the server writes: a bounded queue of messages,
// one write at a time, and an end that comes exactly once.

#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <grpcpp/grpcpp.h>

namespace leadline::rpc {

/// `Reactor` is a ServerWriteReactor or a ServerBidiReactor that writes
/// `Message`. Make it with MakeStream: it keeps itself alive until gRPC is done
/// with it, and longer while others hold it. Thread-safe.
template <typename Reactor, typename Message>
class Stream : public Reactor {
 public:
  /// A reader that falls this far behind loses the stream.
  static constexpr size_t kMostQueued = 4096;

  /// Queues a message; dropped if the stream has ended or is ending.
  void Send(Message message) {
    std::vector<Message> one;
    one.push_back(std::move(message));
    SendAll(std::move(one));
  }

  /// Queues all of them at once.
  void SendAll(std::vector<Message> messages) {
    {
      const std::lock_guard lock(mutex_);
      if (status_ || finished_) return;
      std::move(messages.begin(), messages.end(), std::back_inserter(queue_));
      if (queue_.size() > kMostQueued) {
        queue_.erase(queue_.begin() + (writing_ ? 1 : 0), queue_.end());
        status_ = grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED,
                               "messages are not read fast enough");
      }
    }
    Advance();
  }

  /// Ends the stream once what was queued is written. The first status counts.
  void Close(grpc::Status status) {
    {
      const std::lock_guard lock(mutex_);
      if (!status_) status_ = std::move(status);
    }
    Advance();
  }

 protected:
  /// Reads the next message unless the stream has ended or is ending. Of
  /// streams that read.
  template <typename Request>
  void ReadInto(Request* message) {
    {
      const std::lock_guard lock(mutex_);
      if (status_ || finished_) return;
      starting_read_ = true;
    }
    this->StartRead(message);
    {
      const std::lock_guard lock(mutex_);
      starting_read_ = false;
    }
    Advance();
  }

  /// All that was queued is written and the stream goes on. Must not block.
  virtual void Drained() {}

  /// The stream has ended, whoever ended it. Called once, as the last reaction.
  virtual void Ended() {}

 private:
  template <typename S, typename... Arguments>
  friend std::shared_ptr<S> MakeStream(Arguments&&... arguments);

  /// Starts what is due: the next write, or the end.
  void Advance() {
    const Message* next = nullptr;
    grpc::WriteOptions options;
    std::optional<grpc::Status> end;
    {
      const std::lock_guard lock(mutex_);
      if (writing_ || finished_) return;
      if (!queue_.empty()) {
        writing_ = true;
        next = &queue_.front();
        // Small messages go out together; the last of them takes them along.
        if (queue_.size() > 1) options.set_buffer_hint();
      } else if (status_ && !starting_read_) {
        finished_ = true;
        end = *status_;
      }
    }
    // Outside the lock: gRPC may react before the call returns.
    if (next) this->StartWrite(next, options);
    if (end) this->Finish(*end);
  }

  void OnWriteDone(bool ok) final {
    bool drained = false;
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      queue_.pop_front();
      if (!ok) Abandon();
      drained = queue_.empty() && !status_;
    }
    Advance();
    if (drained) Drained();
  }

  void OnCancel() final {
    {
      const std::lock_guard lock(mutex_);
      Abandon();
    }
    Advance();
  }

  void Abandon() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    queue_.erase(queue_.begin() + (writing_ ? 1 : 0), queue_.end());
    if (!status_) status_ = grpc::Status::CANCELLED;
  }

  void OnDone() final {
    Ended();
    const std::shared_ptr<Stream> last = std::move(self_);
  }

  std::mutex mutex_;
  // Its front is being written while writing_ holds.
  std::deque<Message> queue_ ABSL_GUARDED_BY(mutex_);
  std::optional<grpc::Status> status_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool starting_read_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<Stream> self_;  // until gRPC is done
};

/// Makes a stream of class `S`. Hand it to gRPC, or it is never freed.
template <typename S, typename... Arguments>
std::shared_ptr<S> MakeStream(Arguments&&... arguments) {
  auto stream = std::make_shared<S>(std::forward<Arguments>(arguments)...);
  stream->self_ = stream;
  return stream;
}

template <typename Message>
using ServerStream = Stream<grpc::ServerWriteReactor<Message>, Message>;

template <typename Request, typename Message>
using BidiStream = Stream<grpc::ServerBidiReactor<Request, Message>, Message>;

}  // namespace leadline::rpc
