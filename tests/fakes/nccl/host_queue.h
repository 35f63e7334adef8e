// The queues of a device that is none: threads and memory of this process.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/fakes/nccl/host_stream.h"
#include "worker/collective/nccl/device_queue.h"

namespace leadline::test {

/// Ends when all that it was given is done.
class ThreadStream final : public HostStream {
 public:
  ThreadStream();
  ~ThreadStream() override;
  void Enqueue(std::function<void()> work) override;

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;  // guarded by mutex_
  bool ends_ = false;                       // guarded by mutex_
  std::jthread thread_;
};

class HostQueue final : public collective::DeviceQueue {
 public:
  void* stream() override { return static_cast<HostStream*>(&exchange_); }
  void FollowCompute() override;
  std::shared_ptr<const collective::DeviceMark> Mark() override;

  /// What torch would compute.
  ThreadStream& compute() { return compute_; }

  /// The device fails: marks throw std::runtime_error with this text.
  void Break(const std::string& text);

 private:
  class Place;

  std::shared_ptr<std::string> broken_ = std::make_shared<std::string>();
  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
  // Work of the second waits for that of the first, which goes last.
  ThreadStream compute_;
  ThreadStream exchange_;
};

}  // namespace leadline::test
