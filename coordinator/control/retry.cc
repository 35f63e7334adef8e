#include "coordinator/control/retry.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/request_answers.h"

namespace leadline::control {
namespace {

constexpr char kReason[] = "queued again by command";
constexpr size_t kNumbersATarget = 5;

std::string Asked(const RetryTargets& command) {
  std::string text = "retry ";
  if (command.failed) text += "failed ";
  if (command.cancelled) text += "cancelled ";
  for (const Target& target : command.targets) {
    text += (text.back() == ' ' ? "" : ",") + ToText(target);
  }
  return text;
}

std::string KeptText(const RetryAnswer& answer) {
  std::vector<int64_t> numbers;
  for (const RetriedTarget& target : answer.targets) {
    numbers.insert(numbers.end(),
                   {target.queued, target.failed, target.cancelled,
                    target.unfinished, target.finished});
  }
  return NumbersText(numbers);
}

absl::StatusOr<Answer> Repeat(const RetryTargets& command) {
  const auto kept = AnswerFor(*command.kept_answer, Asked(command));
  const auto numbers =
      kept ? ReadNumbers(*kept, kNumbersATarget * command.targets.size())
           : std::nullopt;
  if (!numbers) return UsedOtherwise(command.request_id);
  RetryAnswer answer;
  auto next = numbers->begin();
  for (const Target& target : command.targets) {
    RetriedTarget& one = answer.targets.emplace_back();
    one.target = target;
    for (int64_t* number : {&one.queued, &one.failed, &one.cancelled,
                            &one.unfinished, &one.finished}) {
      *number = *next++;
    }
  }
  return answer;
}

/// The trials a target stands for; NotFound if there is no such thing.
struct Finder {
  State& state;

  absl::StatusOr<std::vector<TrialId>> operator()(SweepId id) const {
    const Sweep* sweep = state.FindSweep(id);
    if (!sweep) return absl::NotFoundError("no sweep " + leadline::ToText(id));
    std::vector<TrialId> trials;
    for (const Cell& cell : sweep->cells) Add(cell, trials);
    return trials;
  }
  absl::StatusOr<std::vector<TrialId>> operator()(CellId id) const {
    const Cell* cell = state.FindCell(id);
    if (!cell) return absl::NotFoundError("no cell " + leadline::ToText(id));
    std::vector<TrialId> trials;
    Add(*cell, trials);
    return trials;
  }
  absl::StatusOr<std::vector<TrialId>> operator()(TrialId id) const {
    if (state.FindTrial(id)) return std::vector{id};
    return absl::NotFoundError("no trial " + leadline::ToText(id));
  }

  static void Add(const Cell& cell, std::vector<TrialId>& trials) {
    for (const Cohort& cohort : cell.cohorts) {
      for (const auto& trial : cohort.trials) trials.push_back(trial.id);
    }
  }
};

void QueueAgain(Step& step, const storage::TrialRecord& trial) {
  // What its cohort trains now is not made over.
  if (!step.state.FindCohort(trial.cohort)->live) {
    ForgetTries(step, trial.cohort);
  }
  const SweepId id = trial.id.cell.sweep;
  Sweep& sweep = *step.state.FindSweep(id);
  const SweepState state = sweep.record.state;
  if (state == SweepState::kComplete || state == SweepState::kCancelled) {
    if (sweep.record.archived_at) {
      step.Do(storage::DescribeSweep{id, std::nullopt, sweep.record.note,
                                     sweep.record.tags});
    }
    step.Do(storage::MoveSweep{id, state, SweepState::kActive});
    sweep.ended_at.reset();
  }
  step.Move(trial, TrialState::kQueued, kReason);
}

class Retrier {
 public:
  Retrier(Step& step, const RetryTargets& command)
      : step_(step), command_(command) {}

  RetriedTarget Retry(const Target& target,
                      const std::vector<TrialId>& trials) {
    RetriedTarget answer;
    answer.target = target;
    for (const TrialId& id : trials) {
      if (seen_.insert(id).second) RetryOne(id, answer);
    }
    return answer;
  }

 private:
  void RetryOne(const TrialId& id, RetriedTarget& answer) {
    // Copied: moving it edits it.
    const storage::TrialRecord trial = *step_.state.FindTrial(id);
    const bool failed = trial.state == TrialState::kFailed;
    const bool cancelled = trial.state == TrialState::kCancelled;
    if ((failed && command_.failed) || (cancelled && command_.cancelled)) {
      QueueAgain(step_, trial);
      ++answer.queued;
    } else if (failed) {
      ++answer.failed;
    } else if (cancelled) {
      ++answer.cancelled;
    } else if (IsEnded(trial.state)) {
      ++answer.finished;
    } else {
      ++answer.unfinished;
    }
  }

  Step& step_;
  const RetryTargets& command_;
  std::set<TrialId> seen_;
};

absl::Status TakeInEnded(Step& step, const RetryTargets& command) {
  for (const storage::SweepContents& contents : command.ended) {
    if (step.state.FindSweep(contents.sweep.id)) continue;
    const absl::Status taken = Restore(step.state, contents, step.now.steady);
    if (!taken.ok()) return taken;
    // When its attempts ended is forgotten; what a node still holds of them has
    // as long to end as if it had been now.
    for (Cell& cell : step.state.FindSweep(contents.sweep.id)->cells) {
      for (Cohort& cohort : cell.cohorts) cohort.ended_at = step.now.steady;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<RetryAnswer> RetryAll(Step& step, const RetryTargets& command) {
  const absl::Status taken = TakeInEnded(step, command);
  if (!taken.ok()) return taken;
  // All are found before any is changed.
  std::vector<std::vector<TrialId>> trials;
  for (const Target& target : command.targets) {
    auto found = std::visit(Finder{step.state}, target);
    if (!found.ok()) return found.status();
    trials.push_back(*std::move(found));
  }
  RetryAnswer answer;
  Retrier retrier(step, command);
  for (size_t i = 0; i < trials.size(); ++i) {
    answer.targets.push_back(retrier.Retry(command.targets[i], trials[i]));
  }
  return answer;
}

}  // namespace

void ForgetTries(Step& step, const CohortId& id) {
  Cohort& cohort = *step.state.FindCohort(id);
  cohort.retry_at.reset();
  storage::CohortRecord fresh;
  fresh.id = id;
  fresh.attempts = cohort.record.attempts;
  if (cohort.record == fresh) return;
  step.Do(storage::SetStanding{std::move(fresh)});
}

void Apply(Step& step, const RetryTargets& command) {
  if (command.kept_answer) {
    step.outcome.answer = Repeat(command);
    return;
  }
  absl::StatusOr<RetryAnswer> answer = RetryAll(step, command);
  if (!answer.ok()) {
    step.outcome.answer = answer.status();
    return;
  }
  step.Do(storage::KeepAnswer{command.request_id,
                              Asked(command) + " " + KeptText(*answer),
                              step.now.wall});
  step.outcome.answer = *std::move(answer);
}

}  // namespace leadline::control
