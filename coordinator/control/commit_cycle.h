// Turns of the coordinator: apply what came, commit what that asks for, and
// only then act on it. No threads and no waiting: the caller says when a turn
// is due, and is told when the next one is.

#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "common/log.h"
#include "coordinator/control/admissions.h"
#include "coordinator/control/commit_batch.h"
#include "coordinator/control/control.h"
#include "coordinator/control/held_requests.h"
#include "coordinator/control/observer.h"
#include "coordinator/control/progress_publisher.h"
#include "coordinator/control/recalls.h"
#include "coordinator/control/sinks.h"
#include "storage/store.h"

namespace leadline::control {

/// Says what time it is; a test's own clock may stand still.
using MomentSource = std::function<Moment()>;

struct CommitCycleOptions {
  Policy policy;
  bool work_wanted = true;
  std::chrono::milliseconds tick{250};
  std::chrono::milliseconds publish_every{200};  // a sweep's progress, at most
  std::chrono::milliseconds overview_every{1000};
  int64_t most_trials = 2000;  // of a sweep that one turn stores, or reads
  /// Curves, routing and window losses of a sweep go when it has been archived
  /// for so long; null: never.
  std::optional<std::chrono::hours> keep_archived;
  MomentSource now;
  Observer* observer = nullptr;  // outlives the cycle; may be null
};

/// Owned by one thread.
class CommitCycle {
 public:
  /// Takes over what the store holds. `store`, `sink` and `log` must outlive
  /// it.
  static absl::StatusOr<std::unique_ptr<CommitCycle>> Start(
      CommitCycleOptions options, storage::Store& store, EffectSink& sink,
      Log& log);

  /// Takes commands in and goes on with what there is to do. While a commit is
  /// refused, commands wait and nothing is acted on.
  void Turn(std::deque<Envelope> arrived);

  /// When the next turn is due at the latest, commands aside.
  SteadyTime NextTurn() const;

  /// Answers whatever waits with that status. No turn may follow.
  void Abandon(const absl::Status& status);

  const Control& control() const { return *control_; }

 private:
  CommitCycle(CommitCycleOptions options, storage::Store& store,
              EffectSink& sink, Log& log);

  absl::StatusOr<Control> Load() const;
  void TakeTurn(SteadyTime now);
  /// People who ask for a change learn at once why there can be none.
  void RefuseRequests();
  void ApplyQueue();
  void TellTally(const CommitBatch& batch) const;
  void TellOverview(SteadyTime now);
  void Add(Envelope envelope);
  void Apply(Envelope envelope);
  /// Stores a part of the oldest large submission, or applies it.
  void Admit();
  bool BeginAdmission();
  /// Does the next part of what takes several turns.
  void GoOn();
  /// Reads a part for the oldest retry that waits for it, or applies it.
  void Recall();
  bool IsBusy(SweepId sweep) const;
  bool HasMoreToDo() const;
  void AnswerWhenDone(Applied applied);

  /// True if nothing is left to commit.
  bool Flush();
  /// False: not yet, or it never will be.
  bool CommitChanges();
  /// Because of one command a whole batch was refused: the others are good.
  void CommitOneByOne(const absl::Status& why);
  bool KeepOrphans();
  void KeepEach(const std::vector<storage::Change>& orphans);
  void Act();
  /// What control believes is not what the store holds. The store is right.
  void StartAnew(const absl::Status& why);
  void GiveBack(Applied applied, const absl::Status& status);
  bool LoadAgain();
  void WaitAndRetry(const absl::Status& why);
  void Purge();

  const CommitCycleOptions options_;
  storage::Store& store_;
  EffectSink& sink_;
  Log& log_;
  std::unique_ptr<Control> control_;
  SteadyTime ticked_{};
  std::optional<SteadyTime> overview_at_;
  std::deque<Envelope> queue_;
  Admissions admissions_;
  Recalls recalls_;
  bool has_recalled_ = false;  // in this turn
  HeldRequests held_;
  CommitBatch batch_;
  std::deque<CommitBatch> apart_;  // after `batch_`
  /// The store is to be read anew; `true`: and work is wanted.
  std::optional<bool> load_with_work_wanted_;
  std::optional<SteadyTime> retry_at_;  // the disk refused
  absl::Status standstill_;             // why, for who asks meanwhile
  std::chrono::milliseconds retry_wait_{};
  std::string refusal_;    // why; empty since something was committed
  SteadyTime purge_at_{};  // not before
  bool purges_ = false;    // something that was removed is left
  ProgressPublisher publisher_;
};

}  // namespace leadline::control
