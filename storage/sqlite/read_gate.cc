#include "storage/sqlite/read_gate.h"

namespace leadline::storage::sqlite {

void ReadGate::Enter() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !is_shut_; });
  ++inside_;
}

void ReadGate::Leave() {
  {
    const std::lock_guard lock(mutex_);
    --inside_;
  }
  changed_.notify_all();
}

bool ReadGate::Shut(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  is_shut_ = true;
  return changed_.wait_for(lock, time, [this] { return inside_ == 0; });
}

void ReadGate::Open() {
  {
    const std::lock_guard lock(mutex_);
    is_shut_ = false;
  }
  changed_.notify_all();
}

}  // namespace leadline::storage::sqlite
