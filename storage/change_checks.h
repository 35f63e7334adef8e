// What can be said of a change without looking at the record: the checks that
// every store makes first.

#pragma once

#include <string>

#include <absl/status/status.h>

#include "storage/store.h"

namespace leadline::storage {

/// InvalidArgument if the parts of a sweep do not fit together: an id of
/// another sweep or used twice, a trial without its cell or cohort, a seed
/// twice in a cell.
absl::Status CheckParts(const AddSweep& change);

/// InvalidArgument unless it is a fresh attempt: live, numbered from 1, without
/// an end.
absl::Status CheckFresh(const AttemptRecord& attempt);

/// InvalidArgument if it ends nothing, or fails without a kind.
absl::Status CheckEnd(const EndAttempt& change);

/// InvalidArgument if it has no name, no reason where it needs one, or names
/// what is no attempt.
absl::Status CheckNode(const NodeRecord& node);

/// InvalidArgument unless it says why.
absl::Status CheckStop(const StopSweep& change);

/// FailedPrecondition if a sweep in `state` must not be archived;
/// InvalidArgument unless its tags are sorted and differ.
absl::Status CheckDescription(const DescribeSweep& change, SweepState state);

/// FailedPrecondition unless what is in `state` has ended.
absl::Status CheckRemoval(SweepId sweep, SweepState state);
absl::Status CheckRemoval(const TrialId& trial, TrialState state);

/// InvalidArgument if it is of no cell, or queues nothing again.
absl::Status CheckErrand(const ErrandRecord& errand);

/// The code and message of beginning one twice, and of ending none.
absl::Status UnderWay(const ErrandRecord& errand);
absl::Status NotUnderWay(const ErrandRecord& errand);

/// InvalidArgument if a router has another number of sources than of weights.
absl::Status CheckShape(const RoutingRecord& routing);

/// FailedPrecondition unless the sweep, now in `state`, is where the change
/// says it is.
absl::Status CheckMove(const MoveSweep& change, SweepState state);

/// FailedPrecondition unless the trial, now in `state`, is where the change
/// says it is and the move is legal.
absl::Status CheckMove(const MoveTrial& change, TrialState state);

/// FailedPrecondition unless `key` is the attempt that follows number `last`,
/// and that one has ended.
absl::Status CheckNext(const AttemptKey& key, int64_t last, bool last_is_live);

/// AlreadyExists unless it is the answer kept before.
absl::Status CheckSameAnswer(const KeepAnswer& change, const std::string& kept);

/// The code and message of a write by an attempt that is not live.
absl::Status NotLive(const AttemptKey& attempt);

/// The code and message of a change of a rank that the attempt does not have.
absl::Status NoSuchRank(const AttemptKey& attempt, int64_t rank);

/// The code and message of a write about a trial that the attempt does not
/// train.
absl::Status NotOfCohort(const AttemptKey& attempt, const TrialId& trial);

}  // namespace leadline::storage
