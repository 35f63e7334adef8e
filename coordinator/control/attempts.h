// How attempts end, and what becomes of their trials then.

#pragma once

#include <string>

#include "coordinator/control/step.h"

namespace leadline::control {

/// Ends the live attempt as failed on that node; empty: nobody can tell where.
/// Its open trials are queued again after a backoff, or failed where
/// failure_policy.h or the number of tries says so.
void FailAttempt(Step& step, const AttemptKey& key, FailureKind kind,
                 const std::string& message, const std::string& node);

/// Ends the live attempt as superseded and queues its open trials at once; as
/// succeeded if it has none.
void Supersede(Step& step, const AttemptKey& key, const std::string& reason);

/// Ends a live attempt that has given all its results.
void FinishAttempt(Step& step, const AttemptKey& key);

/// Ends a live attempt that was asked to stop and whose processes are gone. No
/// failure: in a paused sweep what ran is suspended, all else is queued.
void Preempt(Step& step, const AttemptKey& key);

/// Ends a live attempt whose trials have all been cancelled, and tells its
/// agent.
void CancelAttempt(Step& step, const AttemptKey& key,
                   const std::string& reason);

/// Cancels what has not ended of the cohort, and stops its attempt; returns how
/// many trials that were.
int64_t CancelOpenTrials(Step& step, Cohort& cohort, const std::string& reason);

/// Cancels what has not ended in the sweep; returns how many trials that were.
int64_t CancelOpenTrials(Step& step, SweepId sweep, const std::string& reason);

/// Moves the sweep to complete if all planned trials have ended, no attempt is
/// live and nothing is being done to it: a complete sweep is not looked at
/// again.
void CompleteIfDone(Step& step, SweepId sweep);

/// Tells those who watch how an attempt at the trial failed. `is_final`: no
/// other follows.
void NoteFailure(Step& step, const AttemptKey& key, const TrialId& trial,
                 FailureKind kind, const std::string& message, bool is_final);

}  // namespace leadline::control
