#include "coordinator/control_loop.h"

#include <chrono>
#include <utility>

#include <absl/status/status.h>

namespace leadline {
namespace {

absl::Status Ending() {
  return absl::UnavailableError("the coordinator is ending");
}

}  // namespace

control::Moment MomentNow() {
  return {std::chrono::steady_clock::now(),
          std::chrono::time_point_cast<storage::WallTime::duration>(
              std::chrono::system_clock::now())};
}

ControlLoop::ControlLoop(std::unique_ptr<control::CommitCycle> cycle)
    : cycle_(std::move(cycle)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

absl::StatusOr<std::unique_ptr<ControlLoop>> ControlLoop::Start(
    control::CommitCycleOptions options, storage::Store& store,
    control::EffectSink& sink, Log& log) {
  if (!options.now) options.now = &MomentNow;
  auto cycle =
      control::CommitCycle::Start(std::move(options), store, sink, log);
  if (!cycle.ok()) return cycle.status();
  return std::unique_ptr<ControlLoop>(new ControlLoop(*std::move(cycle)));
}

ControlLoop::~ControlLoop() { Stop(); }

void ControlLoop::Post(control::Command command, control::Answered answered) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      queue_.push_back({std::move(command), std::move(answered)});
      changed_.notify_one();
      return;
    }
  }
  answered(Ending());
}

void ControlLoop::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  std::deque<control::Envelope> left;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    left.swap(queue_);
  }
  cycle_->Abandon(Ending());
  for (control::Envelope& envelope : left) envelope.answered(Ending());
}

void ControlLoop::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) cycle_->Turn(Take(stop));
}

std::deque<control::Envelope> ControlLoop::Take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(
      lock, stop, cycle_->NextTurn(),
      [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !queue_.empty(); });
  return std::exchange(queue_, {});
}

}  // namespace leadline
