#include "coordinator/control/standing.h"

#include <algorithm>
#include <cmath>

#include "common/random_stream.h"
#include "coordinator/control/failure_policy.h"

namespace leadline::control {
namespace {

constexpr Seconds kHour{3600};

SteadyTime::duration InSteady(Seconds seconds) {
  return std::chrono::duration_cast<SteadyTime::duration>(seconds);
}

/// In which one free restart is forgotten.
Seconds RestartInterval(const Policy& policy) {
  return kHour /
         static_cast<double>(std::max<int64_t>(policy.free_restarts, 1));
}

/// Forgets what is long past; what is left of an interval goes on.
int64_t RememberedRestarts(const Policy& policy, Cohort& cohort,
                           SteadyTime now) {
  const Seconds interval = RestartInterval(policy);
  const auto forgotten = static_cast<int64_t>(
      std::floor(Seconds(now - cohort.restarts_counted_at) / interval));
  if (forgotten >= cohort.record.free_restarts) {
    cohort.restarts_counted_at = now;
    return 0;
  }
  cohort.restarts_counted_at +=
      InSteady(interval * static_cast<double>(forgotten));
  return cohort.record.free_restarts - forgotten;
}

void NoteNode(std::vector<std::string>& nodes, const std::string& node) {
  const auto at = std::ranges::lower_bound(nodes, node);
  if (at == nodes.end() || *at != node) nodes.insert(at, node);
}

/// Doubles with each failure; the jitter is the cohort's own, so that those
/// that failed together do not come back together.
Seconds Backoff(const FailurePolicy& row, const storage::CohortRecord& cohort) {
  const int64_t count =
      row.uses_try ? cohort.failures_in_row : cohort.free_restarts;
  const Seconds wait =
      row.first_backoff *
      std::pow(2.0, static_cast<double>(std::clamp<int64_t>(count - 1, 0, 30)));
  const double jitter =
      RandomStream(0, "backoff/" + ToText(cohort.id)).Uniform(cohort.attempts);
  return std::min(wait, row.longest_backoff) * (1 + jitter / 4);
}

/// What was said when its trials were queued again.
std::string LastReason(const Cohort& cohort) {
  for (const storage::TrialRecord& trial : cohort.trials) {
    if (trial.state == TrialState::kQueued) return trial.reason;
  }
  return "";
}

/// How many more free restarts it had than an hour allows.
int64_t RestartsOver(const Policy& policy, const FailurePolicy& row,
                     const storage::CohortRecord& cohort) {
  if (row.uses_try) return 0;
  return std::max<int64_t>(cohort.free_restarts - policy.free_restarts, 0);
}

std::string RetryReason(const Policy& policy, const Cohort& cohort) {
  const FailurePolicy& row = PolicyOf(*cohort.record.waits_after);
  const std::string why = "attempt " + std::to_string(cohort.record.attempts) +
                          (row.uses_try ? " failed (" : " ended (") +
                          LastReason(cohort) + ")";
  if (RestartsOver(policy, row, cohort.record) > 0) {
    return why + "; it was started again " +
           std::to_string(policy.free_restarts) +
           " times within an hour through no fault of its own, and goes on "
           "more slowly";
  }
  if (!row.uses_try) return why;
  if (cohort.record.failures_in_row == 0) return why + "; put down to its node";
  return why + "; " + TriesText(policy, cohort.record);
}

}  // namespace

void CountEnd(Step& step, const EndedAttempt& ended, FailureKind kind) {
  Cohort& cohort = *step.state.FindCohort(ended.key.cohort);
  storage::CohortRecord next = cohort.record;
  if (ended.step > next.furthest_step) {
    next.furthest_step = ended.step;
    next.failures_in_row = 0;
    next.failed_nodes.clear();
  }
  if (kind != FailureKind::kAgentLost && !ended.node.empty()) {
    NoteNode(next.failed_nodes, ended.node);
  }
  if (PolicyOf(kind).uses_try) {
    ++next.failures;
    ++next.failures_in_row;
  } else {
    next.free_restarts =
        1 + RememberedRestarts(step.policy, cohort, step.now.steady);
  }
  if (kind == FailureKind::kOom) {
    next.memory_tried = std::max(next.memory_tried, ended.memory_bytes);
  }
  next.waits_after = kind;
  step.Do(storage::SetStanding{std::move(next)});
}

void GiveBack(Step& step, const AttemptKey& attempt) {
  const Cohort* cohort = step.state.FindCohort(attempt.cohort);
  if (!cohort || !cohort->HasOpenTrial() || cohort->record.failures == 0) {
    return;
  }
  storage::CohortRecord next = cohort->record;
  if (next.spared >= step.policy.tries_in_total ||
      std::ssize(next.failed_nodes) >=
          std::max<int64_t>(step.policy.quarantine_after, 2)) {
    return;
  }
  ++next.spared;
  --next.failures;
  next.failures_in_row = std::max<int64_t>(next.failures_in_row - 1, 0);
  step.Do(storage::SetStanding{std::move(next)});
  if (cohort->retry_at) {
    step.state.FindCohort(attempt.cohort)->retry_reason =
        RetryReason(step.policy, *cohort);
  }
}

bool IsUsedUp(const Policy& policy, const storage::CohortRecord& cohort) {
  return cohort.failures_in_row >= policy.tries ||
         cohort.failures >= policy.tries_in_total;
}

std::string TriesText(const Policy& policy,
                      const storage::CohortRecord& cohort) {
  return "failure " + std::to_string(cohort.failures_in_row) + " of " +
         std::to_string(policy.tries) + " in a row, " +
         std::to_string(cohort.failures) + " of " +
         std::to_string(policy.tries_in_total) + " in total";
}

void PutOff(const Policy& policy, Cohort& cohort, SteadyTime now) {
  cohort.retry_at.reset();
  cohort.retry_reason.clear();
  if (!cohort.record.waits_after) return;
  const FailurePolicy& row = PolicyOf(*cohort.record.waits_after);
  Seconds wait = Backoff(row, cohort.record);
  const int64_t over = RestartsOver(policy, row, cohort.record);
  if (over > 0) {
    wait = std::max(wait, RestartInterval(policy) * static_cast<double>(over));
  }
  if (wait <= Seconds{0}) return;
  cohort.retry_at = now + InSteady(wait);
  cohort.retry_reason = RetryReason(policy, cohort);
}

}  // namespace leadline::control
