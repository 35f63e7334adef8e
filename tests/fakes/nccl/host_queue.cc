#include "tests/fakes/nccl/host_queue.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <utility>

namespace leadline::test {

ThreadStream::ThreadStream() : thread_([this] { Run(); }) {}

ThreadStream::~ThreadStream() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  changed_.notify_all();
}

void ThreadStream::Enqueue(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  changed_.notify_all();
}

void ThreadStream::Run() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ends_ || !work_.empty(); });
      if (work_.empty()) return;
      work = std::move(work_.front());
      work_.pop_front();
    }
    work();
  }
}

class HostQueue::Place final : public collective::DeviceMark {
 public:
  Place(std::shared_ptr<std::mutex> mutex, std::shared_ptr<std::string> broken)
      : mutex_(std::move(mutex)), broken_(std::move(broken)) {}

  bool IsDone() const override {
    const std::lock_guard lock(*mutex_);
    if (!broken_->empty()) throw std::runtime_error(*broken_);
    return done_.load();
  }
  void Pass() {
    done_ = true;
    done_.notify_all();
  }
  void Await() { done_.wait(false); }

 private:
  std::shared_ptr<std::mutex> mutex_;
  std::shared_ptr<std::string> broken_;  // guarded by mutex_
  std::atomic<bool> done_ = false;
};

void HostQueue::FollowCompute() {
  const auto place = std::make_shared<Place>(mutex_, broken_);
  compute_.Enqueue([place] { place->Pass(); });
  exchange_.Enqueue([place] { place->Await(); });
}

std::shared_ptr<const collective::DeviceMark> HostQueue::Mark() {
  const auto place = std::make_shared<Place>(mutex_, broken_);
  exchange_.Enqueue([place] { place->Pass(); });
  return place;
}

void HostQueue::Break(const std::string& text) {
  const std::lock_guard lock(*mutex_);
  *broken_ = text;
}

}  // namespace leadline::test
