#include "coordinator/control/retry.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/errands.h"
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

/// What has ended is active again.
void Reopen(Step& step, Sweep& sweep) {
  const SweepId id = sweep.record.id;
  const SweepState state = sweep.record.state;
  if (state != SweepState::kComplete && state != SweepState::kCancelled) return;
  if (sweep.record.archived_at) {
    step.Do(storage::DescribeSweep{id, std::nullopt, sweep.record.note,
                                   sweep.record.tags});
  }
  step.Do(storage::MoveSweep{id, state, SweepState::kActive});
  sweep.ended_at.reset();
}

/// Copied: moving it edits it.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
void QueueAgain(Step& step, const storage::TrialRecord trial) {
  // What its cohort trains now is not made over.
  if (!step.state.FindCohort(trial.cohort)->live) {
    ForgetTries(step, trial.cohort);
  }
  Reopen(step, *step.state.FindSweep(trial.id.cell.sweep));
  step.Move(trial, TrialState::kQueued, kReason);
}

bool IsMeant(TrialState state, bool failed, bool cancelled) {
  return (failed && state == TrialState::kFailed) ||
         (cancelled && state == TrialState::kCancelled);
}

/// Null for a trial: it takes one move.
std::optional<storage::ErrandRecord> ErrandFor(const Target& target,
                                               const RetryTargets& command) {
  storage::ErrandRecord errand{SweepOf(target), std::nullopt,
                               storage::ErrandKind::kRetry, command.failed,
                               command.cancelled};
  if (std::holds_alternative<TrialId>(target)) return std::nullopt;
  if (const auto* cell = std::get_if<CellId>(&target)) {
    errand.cell = cell->number;
  }
  return errand;
}

class Retrier {
 public:
  Retrier(Step& step, const RetryTargets& command)
      : step_(step), command_(command), left_(step.policy.most_moves) {}

  RetriedTarget Retry(const Target& target, std::vector<TrialId> trials) {
    if (command_.targets.size() > 1) {
      std::erase_if(trials, [this](const TrialId& id) {
        return !seen_.insert(id).second;
      });
    }
    RetriedTarget answer;
    answer.target = target;
    for (const TrialId& id : trials) {
      ++Count(answer, step_.state.FindTrial(id)->state);
    }
    const auto errand = ErrandFor(target, command_);
    if (errand && answer.queued > left_) {
      Reopen(step_, *step_.state.FindSweep(errand->sweep));
      Begin(step_, *errand);
      return answer;
    }
    left_ -= answer.queued;
    for (const TrialId& id : trials) {
      const storage::TrialRecord& trial = *step_.state.FindTrial(id);
      if (IsMeant(trial.state, command_.failed, command_.cancelled)) {
        QueueAgain(step_, trial);
      }
    }
    return answer;
  }

 private:
  int64_t& Count(RetriedTarget& answer, TrialState state) const {
    if (IsMeant(state, command_.failed, command_.cancelled)) {
      return answer.queued;
    }
    if (state == TrialState::kFailed) return answer.failed;
    if (state == TrialState::kCancelled) return answer.cancelled;
    return IsEnded(state) ? answer.finished : answer.unfinished;
  }

  Step& step_;
  const RetryTargets& command_;
  int64_t left_;  // moves that this step may make
  std::set<TrialId> seen_;
};

absl::StatusOr<RetryAnswer> RetryAll(Step& step, const RetryTargets& command) {
  for (const std::shared_ptr<RecalledSweep>& ended : command.ended) {
    if (step.state.FindSweep(ended->sweep.record.id)) continue;
    TakeBack(step.state, std::move(*ended), step.now.steady);
  }
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
    answer.targets.push_back(
        retrier.Retry(command.targets[i], std::move(trials[i])));
  }
  return answer;
}

}  // namespace

int64_t QueueAgain(Step& step, const Cohort& cohort, bool failed,
                   bool cancelled) {
  int64_t queued = 0;
  for (const storage::TrialRecord& trial : cohort.trials) {
    if (!IsMeant(trial.state, failed, cancelled)) continue;
    QueueAgain(step, trial);
    ++queued;
  }
  return queued;
}

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
