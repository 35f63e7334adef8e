// The thread of control: takes commands in turn, has control decide, commits
// what it asks for, and only then acts on it.

#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>

#include "common/log.h"
#include "coordinator/control/control.h"
#include "coordinator/control/sinks.h"
#include "storage/store.h"

namespace leadline {

/// Says what time it is; a test's own clock may stand still.
using MomentSource = std::function<control::Moment()>;

/// The clocks of this machine.
control::Moment MomentNow();

struct ControlLoopOptions {
  control::Policy policy;
  bool work_wanted = true;
  std::chrono::milliseconds tick{250};
  std::chrono::milliseconds publish_every{200};  // a sweep's progress, at most
  MomentSource now = MomentNow;
};

/// Thread-safe.
class ControlLoop final : public control::CommandSink {
 public:
  /// Takes over what the store holds and starts the thread. `store`, `sink` and
  /// `log` must outlive it.
  static absl::StatusOr<std::unique_ptr<ControlLoop>> Start(
      ControlLoopOptions options, storage::Store& store,
      control::EffectSink& sink, Log& log);

  /// Ends the thread.
  ~ControlLoop() override;

  void Post(control::Command command, control::Answered answered) override;

  /// Answers what waits with Unavailable and takes no more. Blocks until the
  /// thread has ended, which a commit in progress may delay.
  void Stop();

 private:
  struct Envelope {
    control::Command command;
    control::Answered answered;
  };
  /// Steps whose changes are not committed yet.
  struct Batch {
    std::vector<storage::Change> changes;
    std::vector<control::Outcome> outcomes;
    std::vector<control::Answered> answers;
  };

  /// What was told last of a sweep.
  struct Published {
    control::SteadyTime at;
    control::ProgressReport report;
  };

  ControlLoop(ControlLoopOptions options, storage::Store& store,
              control::EffectSink& sink, Log& log);

  absl::StatusOr<control::Control> Load() const;
  absl::Status Begin();
  void Run(const std::stop_token& stop);
  std::deque<Envelope> Take(const std::stop_token& stop);
  void Handle(std::deque<Envelope> envelopes);
  absl::Status LookUp(control::Command& command) const;
  void Flush(Batch& batch);
  absl::Status CommitPatiently(const std::vector<storage::Change>& changes);
  void TellOfStandstill(const absl::Status& why);
  void Act(Batch& batch);
  void KeepOrphans(const std::vector<storage::OrphanRecord>& orphans);
  void StartAnew(Batch& batch, const absl::Status& why);
  void BeginAnew(bool work_wanted);
  bool LoadPatiently();
  void PublishProgress();

  const ControlLoopOptions options_;
  storage::Store& store_;
  control::EffectSink& sink_;
  Log& log_;
  std::unique_ptr<control::Control> control_;
  std::stop_token stop_;  // of the thread; it alone reads it
  std::set<SweepId> unpublished_;
  std::map<SweepId, Published> published_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Envelope> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace leadline
