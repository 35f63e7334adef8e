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

void RunControl::GivePeers(std::vector<std::string> peers) {
  const std::lock_guard lock(mutex_);
  if (peers_.empty()) peers_ = std::move(peers);
}

std::vector<std::string> RunControl::Peers() const {
  const std::lock_guard lock(mutex_);
  return peers_;
}

void RunControl::WaitFor(const std::string& writer, std::string message) {
  const std::lock_guard lock(mutex_);
  if (message.empty()) {
    waits_.erase(writer);
  } else {
    waits_[writer] = std::move(message);
  }
}

std::string RunControl::Waits() const {
  const std::lock_guard lock(mutex_);
  std::string all;
  for (const auto& [writer, message] : waits_) {
    all += (all.empty() ? "" : "; ") + message;
  }
  return all;
}

void RunControl::Heed() const {
  if (!stopping_) return;
  const std::lock_guard lock(mutex_);
  throw Stopped{*stop_};
}

std::optional<StopRequest> RunControl::Asked() const {
  if (!stopping_) return {};
  const std::lock_guard lock(mutex_);
  return stop_;
}

std::vector<int64_t> RunControl::TakeDrops() {
  if (!dropping_) return {};
  const std::lock_guard lock(mutex_);
  dropping_ = false;
  return std::exchange(drops_, {});
}

}  // namespace leadline::trainer
