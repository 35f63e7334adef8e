#include "coordinator/control/sweeps.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/attempts.h"
#include "coordinator/control/errands.h"
#include "coordinator/control/request_answers.h"

namespace leadline::control {
namespace {

constexpr std::string_view kExisting = "existing";
constexpr std::string_view kNew = "new";

std::string Asked(const SubmitSweep& command) {
  return "submit " + command.sweep.sweep.canonical_hash;
}

std::string Asked(const CancelTarget& command) {
  return "cancel " + ToText(command.target);
}

absl::StatusOr<Answer> Repeat(const SubmitSweep& command) {
  const auto answer = AnswerFor(*command.kept_answer, Asked(command));
  if (!answer) return UsedOtherwise(command.request_id);
  const size_t blank = answer->find(' ');
  const auto sweep = ParseSweepId(answer->substr(0, blank));
  if (!sweep || blank == std::string::npos) {
    return UsedOtherwise(command.request_id);
  }
  return SubmitAnswer{*sweep, answer->substr(blank + 1) == kExisting};
}

absl::StatusOr<Answer> Repeat(const CancelTarget& command) {
  const auto kept = AnswerFor(*command.kept_answer, Asked(command));
  const auto numbers = kept ? ReadNumbers(*kept, 1) : std::nullopt;
  if (!numbers) return UsedOtherwise(command.request_id);
  return CancelAnswer{numbers->front()};
}

/// Cancels one trial unless it has ended; true if it did.
bool CancelTrial(Step& step, const TrialId& id, const std::string& reason) {
  const storage::TrialRecord trial = *step.state.FindTrial(id);
  if (IsEnded(trial.state)) return false;
  step.Move(trial, TrialState::kCancelled, reason);
  const Cohort& cohort = *step.state.FindCohort(trial.cohort);
  if (cohort.live && !cohort.HasHeldTrial()) {
    CancelAttempt(step, AttemptKey(cohort.live->record.key), reason);
  }
  return true;
}

int64_t CountOpen(const Cell& cell) {
  int64_t open = 0;
  for (const Cohort& cohort : cell.cohorts) {
    open += std::ranges::count_if(
        cohort.trials, [](const auto& t) { return !IsEnded(t.state); });
  }
  return open;
}

/// What is live is cancelled at once: no agent has a say in the rest then, and
/// how many that will be is known.
void BeginCancel(Step& step, const storage::ErrandRecord& errand) {
  Begin(step, errand);
  for (const CohortId& id : step.state.LiveOf(errand.sweep)) {
    if (errand.cell.value_or(id.cell.number) != id.cell.number) continue;
    CancelOpenTrials(step, *step.state.FindCohort(id), kCancelledByCommand);
  }
}

struct Canceller {
  Step& step;
  std::string reason = kCancelledByCommand;

  absl::StatusOr<int64_t> operator()(SweepId id) const {
    const Sweep* sweep = step.state.FindSweep(id);
    if (!sweep) return absl::NotFoundError("no sweep " + ToText(id));
    if (const int64_t open = sweep->CountOpen();
        open > step.policy.most_moves) {
      BeginCancel(step, {id, std::nullopt, storage::ErrandKind::kCancel});
      return open;
    }
    const SweepState from = sweep->record.state;
    const int64_t cancelled = CancelOpenTrials(step, id, reason);
    if (cancelled > 0) {
      step.Do(storage::MoveSweep{id, from, SweepState::kCancelled});
      step.Touch(id);
    } else {
      // An attempt that had given all its results is not heard any more.
      CompleteIfDone(step, id);
    }
    return cancelled;
  }

  absl::StatusOr<int64_t> operator()(CellId id) const {
    const Cell* cell = step.state.FindCell(id);
    if (!cell) return absl::NotFoundError("no cell " + ToText(id));
    if (const int64_t open = CountOpen(*cell); open > step.policy.most_moves) {
      BeginCancel(step, {id.sweep, id.number, storage::ErrandKind::kCancel});
      return open;
    }
    std::vector<TrialId> trials;
    for (const Cohort& cohort : cell->cohorts) {
      for (const auto& trial : cohort.trials) trials.push_back(trial.id);
    }
    int64_t cancelled = 0;
    for (const TrialId& trial : trials) {
      cancelled += CancelTrial(step, trial, reason) ? 1 : 0;
    }
    CompleteIfDone(step, id.sweep);
    return cancelled;
  }

  absl::StatusOr<int64_t> operator()(TrialId id) const {
    if (!step.state.FindTrial(id)) {
      return absl::NotFoundError("no trial " + ToText(id));
    }
    const int64_t cancelled = CancelTrial(step, id, reason) ? 1 : 0;
    CompleteIfDone(step, id.cell.sweep);
    return cancelled;
  }
};

}  // namespace

storage::AddSweep BuildSweep(const NewSweep& sweep, SweepId id) {
  return BuildPart(sweep, sweep.cells, id, 1);
}

storage::AddSweep BuildPart(const NewSweep& sweep,
                            std::span<const NewCell> cells, SweepId id,
                            int64_t first_cell) {
  storage::AddSweep add;
  add.sweep = sweep.sweep;
  add.sweep.id = id;
  for (const NewCell& cell : cells) {
    storage::CellRecord record = cell.record;
    record.id = {id, first_cell + std::ssize(add.cells)};
    int64_t index = 0;
    for (const int64_t size : cell.cohort_sizes) {
      const CohortId cohort{record.id,
                            index == 0 ? 0 : add.cohorts.back().id.number + 1};
      add.cohorts.emplace_back().id = cohort;
      for (const int64_t end = index + size; index < end; ++index) {
        add.trials.push_back({{record.id, index},
                              cohort,
                              sweep.seeds.at(index),
                              TrialState::kQueued,
                              ""});
      }
    }
    add.cells.push_back(std::move(record));
  }
  return add;
}

void Apply(Step& step, const SubmitSweep& command) {
  if (command.kept_answer) {
    step.outcome.answer = Repeat(command);
    return;
  }
  SubmitAnswer answer;
  if (command.equal_sweep && !command.make_new) {
    answer = {*command.equal_sweep, true};
  } else if (command.staged) {
    storage::SweepRecord& record = command.staged->sweep.record;
    record.submitted_at = step.now.wall;
    answer = {record.id, false};
    step.Do(storage::AdmitSweep{record.id, step.now.wall});
    TakeIn(step.state, std::move(*command.staged), step.now.steady);
    step.Touch(answer.sweep);
  } else {
    answer = {step.state.next_sweep, false};
    storage::AddSweep add = BuildSweep(command.sweep, answer.sweep);
    add.sweep.submitted_at = step.now.wall;
    step.Do(std::move(add));
    step.Touch(answer.sweep);
  }
  std::string kept = Asked(command) + " " + ToText(answer.sweep) + " ";
  kept += answer.existing ? kExisting : kNew;
  step.Do(
      storage::KeepAnswer{command.request_id, std::move(kept), step.now.wall});
  step.outcome.answer = answer;
}

void Apply(Step& step, const CancelTarget& command) {
  if (command.kept_answer) {
    step.outcome.answer = Repeat(command);
    return;
  }
  const auto cancelled = std::visit(Canceller{step}, command.target);
  if (!cancelled.ok()) {
    step.outcome.answer = cancelled.status();
    return;
  }
  step.Do(storage::KeepAnswer{command.request_id,
                              Asked(command) + " " + std::to_string(*cancelled),
                              step.now.wall});
  step.outcome.answer = CancelAnswer{*cancelled};
}

}  // namespace leadline::control
