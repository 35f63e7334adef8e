// Writes changes into the database, inside the transaction the caller opened.

#pragma once

#include <absl/status/status.h>

#include "storage/sqlite/connection.h"
#include "storage/sqlite/row_ids.h"
#include "storage/store.h"

namespace leadline::storage::sqlite {

/// Owned by one thread at a time. Throws SQLite::Exception where SQLite fails.
/// A change that is refused may be half written: roll back then, and Forget.
class ChangeWriter {
 public:
  explicit ChangeWriter(Connection& connection)
      : connection_(connection), ids_(connection) {}

  absl::Status Write(const Change& change);

  /// The transaction was taken back.
  void Forget() {
    ids_.Forget();
    uncommitted_ = {};
  }

  /// The transaction was committed.
  void Keep() {
    points_.stored += uncommitted_.stored;
    points_.overwritten += uncommitted_.overwritten;
    uncommitted_ = {};
  }

  /// Of all committed transactions.
  const PointCounts& points() const { return points_; }

 private:
  absl::Status On(const AddSweep& change);
  absl::Status On(const StageSweep& change);
  absl::Status On(const AdmitSweep& change);
  absl::Status On(const MoveSweep& change);
  absl::Status On(const MoveTrial& change);
  absl::Status On(const StartAttempt& change);
  absl::Status On(const DescribeAttempt& change);
  absl::Status On(const SetRankPids& change);
  absl::Status On(const EndAttempt& change);
  absl::Status On(const AskToStop& change);
  absl::Status On(const Acknowledge& change);
  absl::Status On(const AddPoints& change);
  absl::Status On(const AddRouting& change);
  absl::Status On(const AddWindows& change);
  absl::Status On(const AddResult& change);
  absl::Status On(const KeepOrphan& change);
  absl::Status On(const KeepAnswer& change);
  absl::Status On(const SetStanding& change);
  absl::Status On(const StopSweep& change);
  absl::Status On(const SetNode& change);
  absl::Status On(const DescribeSweep& change);
  absl::Status On(const RemoveSweep& change);
  absl::Status On(const DropMeasurements& change);
  absl::Status On(const BeginErrand& change);
  absl::Status On(const EndErrand& change);

  /// NotFound if there is no such sweep.
  absl::StatusOr<SweepState> StateOf(SweepId sweep);

  void Write(const Point& point, int64_t trial, int64_t attempt);
  void NoteInRow(const MoveTrial& change);
  void Insert(const SweepRecord& sweep);
  int64_t Insert(const CellRecord& cell);
  int64_t Insert(const CohortRecord& cohort, int64_t cell);
  void InsertParts(const AddSweep& sweep);
  void Insert(const AttemptRecord& attempt, int64_t cohort);

  /// The row of the attempt's cohort; FailedPrecondition unless it is live.
  absl::StatusOr<int64_t> LiveCohort(const AttemptKey& attempt);
  bool IsLive(int64_t cohort, int64_t number);

  /// The row of the trial; FailedPrecondition unless the attempt is live and
  /// trains it.
  absl::StatusOr<int64_t> WritableTrial(const AttemptKey& attempt,
                                        const TrialId& trial);

  Connection& connection_;
  RowIds ids_;
  PointCounts uncommitted_;
  PointCounts points_;
};

}  // namespace leadline::storage::sqlite
