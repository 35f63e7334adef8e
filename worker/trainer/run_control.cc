#include "worker/trainer/run_control.h"

#include <utility>

namespace leadline::trainer {

void RunControl::Stop(StopRequest request) {
  const std::lock_guard lock(mutex_);
  if (stop_) return;
  stop_ = std::move(request);
  stopping_ = true;
}

void RunControl::DropReplica(int64_t replica) {
  const std::lock_guard lock(mutex_);
  drops_.push_back(replica);
  dropping_ = true;
}

void RunControl::Heed() const {
  if (!stopping_) return;
  const std::lock_guard lock(mutex_);
  throw Stopped{*stop_};
}

std::vector<int64_t> RunControl::TakeDrops() {
  if (!dropping_) return {};
  const std::lock_guard lock(mutex_);
  dropping_ = false;
  return std::exchange(drops_, {});
}

}  // namespace leadline::trainer
