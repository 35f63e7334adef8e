// The durable record of sweeps, trials, attempts and what they measured: the
// writing half. What was decided arrives as changes and is on disk when Commit
// returns.

#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "storage/errand.h"
#include "storage/records.h"

namespace leadline::storage {

/// Adds a sweep with all its parts. AlreadyExists if the id is taken.
struct AddSweep {
  SweepRecord sweep;
  std::vector<CellRecord> cells;
  std::vector<CohortRecord> cohorts;
  std::vector<TrialRecord> trials;
};

/// Stores some cells of a sweep, with all of their cohorts and trials, out of
/// sight: there is no such sweep until it is admitted. The first part brings
/// its record too. What is never admitted Purge deletes. AlreadyExists if the
/// id is taken.
struct StageSweep {
  AddSweep part;
};

/// A staged sweep is there from now on, with all of its parts. NotFound unless
/// it is staged.
struct AdmitSweep {
  SweepId sweep;
  WallTime submitted_at{};
};

/// FailedPrecondition unless the sweep is in state `from`.
struct MoveSweep {
  SweepId sweep;
  SweepState from = SweepState::kActive;
  SweepState to = SweepState::kActive;
};

/// FailedPrecondition unless the trial is in state `from` and the move is
/// legal. A failure adds one to the sweep's failures in a row, a result ends
/// the row; a trial queued again after its end ends it too and lifts the stop.
struct MoveTrial {
  TrialId trial;
  TrialState from = TrialState::kQueued;
  TrialState to = TrialState::kQueued;
  std::string reason;
};

/// What a move does to its sweep's row of failures, and to its stop.
enum class RowEffect { kNone, kLonger, kEnds, kEndsWithStop };

inline RowEffect EffectOnRow(const MoveTrial& move) {
  switch (move.to) {
    case TrialState::kFailed:
      return RowEffect::kLonger;
    case TrialState::kSucceeded:
    case TrialState::kDiverged:
      return RowEffect::kEnds;
    case TrialState::kQueued:
      return IsEnded(move.from) ? RowEffect::kEndsWithStop : RowEffect::kNone;
    default:
      return RowEffect::kNone;
  }
}

/// Opens the cohort's next attempt. FailedPrecondition unless its number is one
/// above the cohort's last and no attempt of the cohort is live.
struct StartAttempt {
  AttemptRecord attempt;
};

/// What the trainer said of itself. FailedPrecondition if the attempt is not
/// live. Only the fields below are taken from `attempt`: device, numerics,
/// version, commit, libraries, dataset_path, threads, parameters; an empty or
/// zero one leaves what is stored.
struct DescribeAttempt {
  AttemptRecord attempt;
};

/// What an agent said of the processes it started. FailedPrecondition if the
/// attempt is not live, InvalidArgument if it has no such rank.
struct SetRankPids {
  struct Pid {
    int64_t rank = 0;
    int64_t pid = 0;
  };
  AttemptKey attempt;
  std::vector<Pid> pids;
};

/// FailedPrecondition if the attempt is not live.
struct EndAttempt {
  AttemptKey attempt;
  AttemptOutcome outcome = AttemptOutcome::kSucceeded;
  std::optional<FailureKind> kind;
  std::string message;
  WallTime at{};
};

/// Notes that a live attempt was asked to stop; the first reason stands.
/// FailedPrecondition if the attempt is not live.
struct AskToStop {
  AttemptKey attempt;
  std::string reason;
};

/// Sets a cohort's standing: all of the record but its number of attempts.
/// NotFound if there is no such cohort.
struct SetStanding {
  CohortRecord cohort;
};

/// A limit of failures is reached: nothing of the sweep starts any more.
/// NotFound if there is no such sweep.
struct StopSweep {
  SweepId sweep;
  std::string because;  // never empty
};

/// Replaces what is held against a node; a clean record is removed.
struct SetNode {
  NodeRecord node;
};

/// Everything up to `sequence` of a live attempt is part of this transaction,
/// and it has trained up to `step`. FailedPrecondition if the attempt is not
/// live; a value below the stored one changes nothing.
struct Acknowledge {
  AttemptKey attempt;
  int64_t sequence = 0;
  int64_t step = 0;
};

/// Sending a point again stores it once; the last value of (trial, metric,
/// step) stands. FailedPrecondition if the attempt is not live or is not of the
/// trial's cohort. The same holds for the next three.
struct AddPoints {
  AttemptKey attempt;
  std::vector<Point> points;
};

struct AddRouting {
  AttemptKey attempt;
  RoutingRecord routing;
};

struct AddWindows {
  AttemptKey attempt;
  WindowLosses windows;
};

struct AddResult {
  ResultRecord result;
};

/// Keeps what a superseded attempt still says. NotFound if there never was such
/// an attempt. One record is kept once.
struct KeepOrphan {
  OrphanRecord record;
};

/// Keeps the answer to a request, so that asking again gets it again.
/// AlreadyExists if another answer is kept under the id.
struct KeepAnswer {
  std::string request_id;
  std::string answer;
  WallTime at{};
};

/// Sets what people say of a sweep. NotFound if there is none;
/// FailedPrecondition if one that has not ended would be archived;
/// InvalidArgument unless the tags are sorted and differ.
struct DescribeSweep {
  SweepId sweep;
  std::optional<WallTime> archived_at;
  std::string note;
  std::vector<std::string> tags;
};

/// From now on there is no such sweep, and never will be: its number is not
/// given out again. Purge deletes what it consists of. NotFound if there is
/// none, FailedPrecondition unless it has ended.
struct RemoveSweep {
  SweepId sweep;
  WallTime at{};
};

/// Purge deletes the curves, routing and window losses of the trial; its state
/// and its result stay. NotFound if there is none, FailedPrecondition unless it
/// has ended.
struct DropMeasurements {
  TrialId trial;
};

/// NotFound if there is no such sweep, AlreadyExists if one of its kind is
/// under way there.
struct BeginErrand {
  ErrandRecord errand;
};

/// NotFound unless it is under way.
struct EndErrand {
  ErrandRecord errand;
};

using Change =
    std::variant<AddSweep, MoveSweep, MoveTrial, StartAttempt, DescribeAttempt,
                 EndAttempt, AskToStop, Acknowledge, AddPoints, AddRouting,
                 AddWindows, AddResult, KeepOrphan, KeepAnswer, SetStanding,
                 StopSweep, SetNode, DescribeSweep, RemoveSweep,
                 DropMeasurements, SetRankPids, StageSweep, AdmitSweep,
                 BeginErrand, EndErrand>;

/// What a coordinator needs to go on after a restart.
struct SweepContents {
  SweepRecord sweep;
  std::vector<CellRecord> cells;      // by number
  std::vector<CohortRecord> cohorts;  // by id
  std::vector<TrialRecord> trials;    // by id
  std::vector<AttemptRecord> live;    // attempts without an end
  /// The last of their cohorts where that was cancelled: nobody waited for its
  /// processes to end.
  std::vector<AttemptRecord> cancelled{};
  std::vector<ErrandRecord> errands{};  // under way, in their order

  bool operator==(const SweepContents&) const = default;
};

/// What became of the points of committed AddPoints.
struct PointCounts {
  int64_t stored = 0;       // there was none of its (trial, metric, step)
  int64_t overwritten = 0;  // it took the place of one
};

/// How much Purge deletes, and what for its age.
struct PurgeLimits {
  int64_t most_rows = 5000;
  WallTime answers_before{};  // that were kept before
  /// Measurements of sweeps that were archived before; null: never.
  std::optional<WallTime> archived_before;
};

/// Values in, values out: nothing returned refers to the store. Thread-safe.
class Store {
 public:
  virtual ~Store() = default;

  /// All changes in order in one transaction, on disk when it returns; or none
  /// of them, with the code of the first that cannot stand. Unavailable: the
  /// disk refused (full, I/O error) and the same call may succeed later.
  virtual absl::Status Commit(std::span<const Change> changes) = 0;

  /// Since this store was made. One that does not count says zero.
  virtual PointCounts CountPoints() const { return {}; }

  /// Sweeps that are active or paused, oldest first.
  virtual absl::StatusOr<std::vector<SweepContents>> LoadUnfinished() const = 0;

  /// What is held against nodes, by name.
  virtual absl::StatusOr<std::vector<NodeRecord>> LoadNodes() const = 0;

  /// NotFound if there is no such sweep.
  virtual absl::StatusOr<SweepContents> LoadSweep(SweepId sweep) const = 0;

  /// The same of some of its cells alone: `count` of them at most, numbered
  /// from `first` on.
  virtual absl::StatusOr<SweepContents> LoadCells(SweepId sweep, int64_t first,
                                                  int64_t count) const = 0;

  /// Null if there is no such sweep.
  virtual absl::StatusOr<std::optional<SweepRecord>> FindSweep(
      SweepId sweep) const = 0;

  /// Deletes some of what was removed or is older than it may be, in one
  /// transaction that takes no longer than a commit. True while some is left.
  /// Sweeps that are staged and not admitted go too: not to be called while one
  /// is on its way.
  /// Unavailable as of Commit.
  virtual absl::StatusOr<bool> Purge(const PurgeLimits& limits) = 0;

  /// The number the next sweep gets.
  virtual absl::StatusOr<SweepId> NextSweepId() const = 0;

  /// The newest sweep of that name and canonical hash; null if there is none.
  virtual absl::StatusOr<std::optional<SweepId>> FindEqualSweep(
      const std::string& name, const std::string& canonical_hash) const = 0;

  /// The answer kept under a request id; null if there is none.
  virtual absl::StatusOr<std::optional<std::string>> FindAnswer(
      const std::string& request_id) const = 0;
};

}  // namespace leadline::storage
