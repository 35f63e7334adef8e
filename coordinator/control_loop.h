// The thread of control: it takes commands in turn and waits where there is
// nothing to do.

#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>

#include "common/log.h"
#include "coordinator/control/commit_cycle.h"
#include "coordinator/control/sinks.h"
#include "storage/store.h"

namespace leadline {

/// The clocks of this machine.
control::Moment MomentNow();

/// Thread-safe.
class ControlLoop final : public control::CommandSink {
 public:
  /// Takes over what the store holds and starts the thread. `store`, `sink` and
  /// `log` must outlive it. Without `options.now` the clocks are the machine's.
  static absl::StatusOr<std::unique_ptr<ControlLoop>> Start(
      control::CommitCycleOptions options, storage::Store& store,
      control::EffectSink& sink, Log& log);

  /// Ends the thread.
  ~ControlLoop() override;

  void Post(control::Command command, control::Answered answered) override;

  /// Answers what waits with Unavailable and takes no more. Blocks until the
  /// thread has ended, which a commit in progress may delay.
  void Stop();

 private:
  explicit ControlLoop(std::unique_ptr<control::CommitCycle> cycle);

  void Run(const std::stop_token& stop);
  std::deque<control::Envelope> Take(const std::stop_token& stop);

  std::unique_ptr<control::CommitCycle> cycle_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<control::Envelope> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace leadline
