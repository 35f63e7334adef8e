// The durable record, the reading half: what people and pages ask for. Answers
// never wait for the writer.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "storage/backup.h"
#include "storage/records.h"

namespace leadline::storage {

/// A row of the view `sweeps`.
struct SweepRow {
  SweepRecord sweep;
  int64_t cells = 0;
  std::array<int64_t, kTrialStates.size()> trials{};  // by state, in its order
  int64_t never_began = 0;  // of those cancelled: no attempt of theirs was made
};

/// One trial's value in a cell.
struct SeedValue {
  TrialId trial;
  int64_t seed = 0;
  double value = 0;
  std::string numerics;  // of the attempt it comes from
};

/// A cell with the values of its succeeded trials. Statistics over them are
/// computed in one place, coordinator/analysis; the view `cell_results` agrees.
struct CellValues {
  CellRecord cell;
  int64_t planned = 0;
  int64_t diverged = 0;
  int64_t failed = 0;
  std::vector<SeedValue> values;  // by seed index
};

struct TrialRow {
  TrialRecord trial;
  CellRecord cell;
  int64_t attempts = 0;
  std::optional<double> validation_loss;
  std::optional<FailureKind> failed_kind;  // of the newest attempt that has one
};

/// Trials of a sweep that ended without a result, or by diverging, in one way.
struct EndedGroup {
  TrialState state = TrialState::kFailed;
  std::string reason;
  bool began = false;  // there was an attempt
  int64_t trials = 0;
  TrialId first;

  bool operator==(const EndedGroup&) const = default;
};

/// Attempts of a sweep that failed in one way, and the trials they held.
struct FailureCount {
  FailureKind kind = FailureKind::kCrash;
  int64_t attempts = 0;
  int64_t trials = 0;

  bool operator==(const FailureCount&) const = default;
};

/// Records that superseded attempts still sent.
struct OrphanCount {
  int64_t attempts = 0;
  int64_t records = 0;

  bool operator==(const OrphanCount&) const = default;
};

/// What the record takes on disk, in bytes; all zero in memory. The log holds
/// what was committed last; it stays below some 20 MB unless a program outside
/// keeps a read open.
struct StoreSize {
  int64_t database_bytes = 0;
  int64_t log_bytes = 0;
};

/// Which sweeps are wanted; a field that is not set wants all.
struct SweepFilter {
  enum class Archived { kLeftOut, kAlone, kToo };

  std::vector<SweepState> states{};  // any of them
  std::vector<std::string> tags{};   // all of them
  std::string user{};
  std::string name{};  // a part of it
  std::optional<WallTime> since{};
  Archived archived = Archived::kLeftOut;
  /// An attempt failed so, whatever came after.
  std::optional<FailureKind> failed_kind{};
};

/// How much a sweep or a trial holds.
struct Contents {
  int64_t trials = 0;
  int64_t attempts = 0;
  int64_t points = 0;
  int64_t routings = 0;  // evaluations with routing
  int64_t bytes = 0;     // of measurements, about; 0 in memory
  /// Where ranks of its attempts ran, ascending; of a trial not told.
  std::vector<std::string> nodes{};

  bool operator==(const Contents&) const = default;
};

/// Thread-safe. Every list is in the order of ids and bounded by `limit`; the
/// number of statements of a call does not depend on the number of rows.
class StoreReader {
 public:
  virtual ~StoreReader() = default;

  /// For figures and alarms. Unavailable if the disk does not tell.
  virtual absl::StatusOr<StoreSize> Size() const = 0;

  /// A copy of the record as it is at one moment; see CopyDatabase.
  /// Unimplemented in memory.
  virtual absl::StatusOr<BackupFacts> BackUp(
      const std::filesystem::path& target) const = 0;

  /// Newest first, those older than `before` where it is given; archived ones
  /// too.
  virtual absl::StatusOr<std::vector<SweepRow>> ListSweeps(
      std::optional<SweepId> before, int64_t limit) const = 0;
  virtual absl::StatusOr<int64_t> CountSweeps() const = 0;

  /// All trials of all sweeps by state, in the order of kTrialStates.
  virtual absl::StatusOr<std::array<int64_t, kTrialStates.size()>> CountTrials()
      const = 0;
  /// The same of those that are wanted, and how many there are.
  virtual absl::StatusOr<std::vector<SweepRow>> FindSweeps(
      const SweepFilter& filter, std::optional<SweepId> before,
      int64_t limit) const = 0;
  virtual absl::StatusOr<int64_t> CountSweeps(
      const SweepFilter& filter) const = 0;

  /// All zero if there is no such thing. Reads all of its points: not for
  /// lists.
  virtual absl::StatusOr<Contents> CountContents(SweepId sweep) const = 0;
  virtual absl::StatusOr<Contents> CountContents(TrialId trial) const = 0;

  /// NotFound if there is no such sweep.
  virtual absl::StatusOr<SweepRow> GetSweep(SweepId sweep) const = 0;

  /// Sweeps whose name starts with `prefix`, newest first, at most `limit`.
  virtual absl::StatusOr<std::vector<SweepRecord>> FindByName(
      const std::string& prefix, int64_t limit) const = 0;

  /// Cells in order from `after` on (0: from the first), at most `limit`.
  /// `metric` is validation_loss, test_loss or best_validation_loss, else
  /// InvalidArgument. NotFound if there is no such sweep.
  virtual absl::StatusOr<std::vector<CellValues>> ListCells(
      SweepId sweep, const std::string& metric, int64_t after,
      int64_t limit) const = 0;

  /// Trials of a sweep, or of one cell, after `after` where it is given.
  /// NotFound if there is no such sweep or cell.
  virtual absl::StatusOr<std::vector<TrialRow>> ListTrials(
      SweepId sweep, std::optional<CellId> cell, std::optional<TrialId> after,
      int64_t limit) const = 0;

  /// NotFound if there is no such trial.
  virtual absl::StatusOr<TrialRow> GetTrial(TrialId trial) const = 0;

  /// Trials of a cohort, by seed index. Empty if there is no such cohort.
  virtual absl::StatusOr<std::vector<TrialRecord>> CohortTrials(
      CohortId cohort) const = 0;

  /// Attempts of a cohort, oldest first.
  virtual absl::StatusOr<std::vector<AttemptRecord>> ListAttempts(
      CohortId cohort) const = 0;

  /// Null until the trial has one.
  virtual absl::StatusOr<std::optional<ResultRecord>> FindResult(
      TrialId trial) const = 0;

  /// Points after `after_step`, by step.
  virtual absl::StatusOr<std::vector<Point>> Curve(TrialId trial,
                                                   const std::string& metric,
                                                   int64_t after_step,
                                                   int64_t limit) const = 0;

  /// At `step`, or the newest; null if there is none.
  virtual absl::StatusOr<std::optional<RoutingRecord>> FindRouting(
      TrialId trial, std::optional<int64_t> step) const = 0;

  /// Losses of the fixed evaluation at `step`, or the newest of that split;
  /// null if there is none.
  virtual absl::StatusOr<std::optional<WindowLosses>> FindWindows(
      TrialId trial, const std::string& split,
      std::optional<int64_t> step) const = 0;

  /// What a superseded attempt still said after `after_sequence`, in order.
  virtual absl::StatusOr<std::vector<OrphanRecord>> ListOrphans(
      AttemptKey attempt, int64_t after_sequence, int64_t limit) const = 0;

  /// Those of the sweeps asked for that were removed, ascending. What never was
  /// is none of them.
  virtual absl::StatusOr<std::vector<SweepId>> RemovedAmong(
      const std::vector<SweepId>& asked) const = 0;

  /// Orphans of a cohort, by the number of their attempt.
  virtual absl::StatusOr<std::map<int64_t, int64_t>> CohortOrphans(
      CohortId cohort) const = 0;

  /// All zero if there is no such sweep. The same holds for the next two.
  virtual absl::StatusOr<OrphanCount> SweepOrphans(SweepId sweep) const = 0;

  /// By kind, in the order of kFailureKinds; kinds that never were are left
  /// out.
  virtual absl::StatusOr<std::vector<FailureCount>> CountFailures(
      SweepId sweep) const = 0;

  /// The largest groups first, ties by their first trial.
  virtual absl::StatusOr<std::vector<EndedGroup>> ListEnded(
      SweepId sweep, int64_t limit) const = 0;

  /// ListTrials with those alone of which an attempt failed so, whatever came
  /// after; and how many there are.
  virtual absl::StatusOr<std::vector<TrialRow>> ListTrialsFailed(
      FailureKind kind, SweepId sweep, std::optional<CellId> cell,
      std::optional<TrialId> after, int64_t limit) const = 0;
  virtual absl::StatusOr<int64_t> CountTrialsFailed(
      FailureKind kind, SweepId sweep, std::optional<CellId> cell) const = 0;
};

}  // namespace leadline::storage
