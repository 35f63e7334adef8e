#include "worker/agent/gpu_watch.h"

namespace leadline::agent {
namespace {

constexpr std::chrono::seconds kBetweenLooks{1};

}  // namespace

std::optional<absl::StatusOr<GpuList>> GpuWatch::Latest(SteadyTime since) {
  const std::scoped_lock lock(mutex_);
  if (wanted_) return std::nullopt;
  const SteadyTime now = clock_();
  if (answer_ && now - answered_ < kBetweenLooks) {
    return asked_ >= since ? answer_ : std::nullopt;
  }
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }
  wanted_ = true;
  asked_ = now;
  changed_.notify_all();
  return std::nullopt;
}

GpuWatch::SteadyTime::duration GpuWatch::Asking() const {
  const std::scoped_lock lock(mutex_);
  return wanted_ ? clock_() - asked_ : SteadyTime::duration::zero();
}

void GpuWatch::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return wanted_; })) {
    lock.unlock();
    absl::StatusOr<GpuList> found = prober_->ListGpus();
    lock.lock();
    answer_ = std::move(found);
    answered_ = clock_();
    wanted_ = false;
  }
}

}  // namespace leadline::agent
