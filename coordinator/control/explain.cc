#include "coordinator/control/explain.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <absl/status/status.h>

#include "coordinator/control/progress.h"
#include "coordinator/control/request_answers.h"
#include "coordinator/control/waiting.h"

namespace leadline::control {
namespace {

constexpr size_t kMostGroups = 50;
constexpr size_t kMostLive = 50;

LiveNow Describe(const Step& step, const Cell& cell, const Cohort& cohort) {
  const LiveAttempt& live = *cohort.live;
  LiveNow now;
  now.record = live.record;
  now.lease_left = step.policy.lease - (step.now.steady - live.Renewed());
  if (live.recorded_at) now.since_record = step.now.steady - *live.recorded_at;
  now.step = live.step;
  now.steps = cell.record.steps;
  now.tokens_per_second = live.tokens_per_second;
  now.waiting_for = live.parts.size() > 1 ? live.WaitingFor()
                                          : live.parts.front().waiting_for;
  for (const storage::TrialRecord& trial : cohort.trials) {
    if (!IsHeld(trial.state)) continue;
    if (now.trials++ == 0) {
      now.first = trial.id;
      now.state = trial.state;
    }
  }
  if (now.state == TrialState::kUnreachable) {
    now.given_up_in = now.lease_left + step.policy.grace;
  }
  return now;
}

/// What a queued or suspended trial waits for.
WaitNow WaitOf(const Step& step, const Sweep& sweep, const Cohort& cohort,
               const storage::TrialRecord& trial) {
  WaitNow wait;
  wait.state = trial.state;
  wait.trials = 1;
  wait.first = trial.id;
  if (sweep.record.state == SweepState::kPaused) {
    wait.reason = PausedText(sweep);
  } else if (cohort.live) {
    wait.reason = "attempt " + std::to_string(cohort.live->record.key.number) +
                  " of its cohort must end before";
  } else if (cohort.retry_at && *cohort.retry_at > step.now.steady) {
    wait.reason = cohort.retry_reason;
    wait.retry_in = *cohort.retry_at - step.now.steady;
  } else {
    wait.reason = DeferralOf(step.state, cohort).reason;
    if (wait.reason.empty()) wait.reason = trial.reason;
  }
  return wait;
}

bool IsWaiting(const storage::TrialRecord& trial) {
  return trial.state == TrialState::kQueued ||
         trial.state == TrialState::kSuspended;
}

/// Groups what waits by what it waits for.
class Waits {
 public:
  void Add(WaitNow wait) {
    const auto [at, is_new] =
        groups_.try_emplace({wait.state, wait.reason}, wait);
    if (is_new) return;
    WaitNow& group = at->second;
    ++group.trials;
    if (wait.retry_in &&
        (!group.retry_in || *wait.retry_in < *group.retry_in)) {
      group.retry_in = wait.retry_in;
    }
  }

  /// The largest first, ties by their first trial.
  std::vector<WaitNow> List() const {
    std::vector<WaitNow> list;
    for (const auto& [key, group] : groups_) list.push_back(group);
    std::ranges::sort(list, [](const WaitNow& a, const WaitNow& b) {
      return std::tuple(-a.trials, a.first) < std::tuple(-b.trials, b.first);
    });
    return list;
  }

 private:
  std::map<std::pair<TrialState, std::string>, WaitNow> groups_;
};

template <typename Value>
int64_t Cut(std::vector<Value>& list, size_t most) {
  if (list.size() <= most) return 0;
  const auto left_out = static_cast<int64_t>(list.size() - most);
  list.resize(most);
  return left_out;
}

void ExplainSweep(const Step& step, const Sweep& sweep, Explanation& answer) {
  Waits waits;
  for (const Cell& cell : sweep.cells) {
    for (const Cohort& cohort : cell.cohorts) {
      if (cohort.live) answer.running.push_back(Describe(step, cell, cohort));
      for (const storage::TrialRecord& trial : cohort.trials) {
        if (IsWaiting(trial)) waits.Add(WaitOf(step, sweep, cohort, trial));
      }
    }
  }
  answer.waiting = waits.List();
  answer.waiting_left_out = Cut(answer.waiting, kMostGroups);
  answer.running_left_out = Cut(answer.running, kMostLive);
}

Explanation Common(const Step& step, const Sweep& sweep) {
  Explanation answer;
  answer.sweep = sweep.record.id;
  answer.state = sweep.record.state;
  answer.waiting_for = Report(step.state, sweep).waiting_for;
  answer.live_agents = CountLiveAgents(step.state);
  answer.tries = step.policy.tries;
  answer.tries_in_total = step.policy.tries_in_total;
  answer.now = step.now.wall;
  return answer;
}

}  // namespace

void Apply(Step& step, const ExplainTarget& command) {
  const SweepId id = SweepOf(command.target);
  const Sweep* sweep = step.state.FindSweep(id);
  if (!sweep) {
    // It has ended: what the store has is all there is to say of it.
    Explanation answer;
    answer.sweep = id;
    answer.live_agents = CountLiveAgents(step.state);
    answer.now = step.now.wall;
    step.outcome.answer = std::move(answer);
    return;
  }
  Explanation answer = Common(step, *sweep);
  const auto* trial_id = std::get_if<TrialId>(&command.target);
  if (!trial_id) {
    ExplainSweep(step, *sweep, answer);
  } else if (const auto* trial = step.state.FindTrial(*trial_id)) {
    const Cohort& cohort = *step.state.FindCohort(trial->cohort);
    TrialNow now{*trial, cohort.record, {}, {}};
    if (IsWaiting(*trial)) now.wait = WaitOf(step, *sweep, cohort, *trial);
    if (cohort.live && IsHeld(trial->state)) {
      now.live = Describe(step, *step.state.FindCell(trial_id->cell), cohort);
    }
    answer.trial = std::move(now);
  } else {
    step.outcome.answer = absl::NotFoundError("no trial " + ToText(*trial_id));
    return;
  }
  step.outcome.answer = std::move(answer);
}

}  // namespace leadline::control
