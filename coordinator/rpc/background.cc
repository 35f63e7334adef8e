#include "coordinator/rpc/background.h"

#include <utility>

namespace leadline::rpc {

Background::Background(int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Run(); });
  }
}

Background::~Background() {
  RequestStop();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  threads_.clear();
}

void Background::Post(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Background::RequestStop() { stop_.request_stop(); }

void Background::Run() {
  while (true) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return ending_ || !tasks_.empty();
      });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task(stop_.get_token());
  }
}

}  // namespace leadline::rpc
