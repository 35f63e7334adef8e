#include "coordinator/control/pausing.h"

#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/attempts.h"
#include "coordinator/control/parts.h"
#include "coordinator/control/request_answers.h"

namespace leadline::control {
namespace {

constexpr char kReason[] = "paused by command";

std::string Asked(const PauseSweep& command) {
  return std::string("pause ") + (command.stop ? "stop " : "") +
         ToText(command.sweep);
}

std::string Asked(const ResumeSweep& command) {
  return "resume " + ToText(command.sweep);
}

absl::StatusOr<Answer> Repeat(const PauseSweep& command) {
  const auto kept = AnswerFor(*command.kept_answer, Asked(command));
  const auto numbers = kept ? ReadNumbers(*kept, 4) : std::nullopt;
  if (!numbers) return UsedOtherwise(command.request_id);
  return PauseAnswer{numbers->at(0) != 0, numbers->at(1), numbers->at(2),
                     numbers->at(3)};
}

absl::StatusOr<Answer> Repeat(const ResumeSweep& command) {
  const auto kept = AnswerFor(*command.kept_answer, Asked(command));
  const auto numbers = kept ? ReadNumbers(*kept, 3) : std::nullopt;
  if (!numbers) return UsedOtherwise(command.request_id);
  return ResumeAnswer{numbers->at(0) != 0, numbers->at(1), numbers->at(2)};
}

int64_t CountHeld(const Cohort& cohort) {
  int64_t held = 0;
  for (const auto& trial : cohort.trials) held += IsHeld(trial.state) ? 1 : 0;
  return held;
}

PauseAnswer Pause(Step& step, Sweep& sweep, bool stop) {
  const SweepId id = sweep.record.id;
  PauseAnswer answer;
  if (sweep.record.state == SweepState::kActive) {
    step.Do(storage::MoveSweep{id, SweepState::kActive, SweepState::kPaused});
    answer.changed = true;
  }
  if (sweep.record.state != SweepState::kPaused) return answer;
  for (const CohortId& cohort_id : step.state.LiveOf(id)) {
    const Cohort& cohort = *step.state.FindCohort(cohort_id);
    const bool asks = stop && cohort.live->record.stop_reason.empty();
    if (asks) {
      step.Do(storage::AskToStop{cohort.live->record.key, kReason});
      TellToStop(step, *cohort.live);
    }
    const bool stops = !cohort.live->record.stop_reason.empty();
    if (asks) answer.stopping += CountHeld(cohort);
    if (!stops) answer.running += CountHeld(cohort);
  }
  answer.waiting =
      sweep.Count(TrialState::kQueued) + sweep.Count(TrialState::kSuspended);
  step.Touch(id);
  return answer;
}

ResumeAnswer Resume(Step& step, Sweep& sweep) {
  const SweepId id = sweep.record.id;
  ResumeAnswer answer;
  if (sweep.record.state != SweepState::kPaused) return answer;
  step.Do(storage::MoveSweep{id, SweepState::kPaused, SweepState::kActive});
  answer.changed = true;
  const auto suspended = [](TrialState state) {
    return state == TrialState::kSuspended;
  };
  for (const Cell& cell : sweep.cells) {
    for (const Cohort& cohort : cell.cohorts) {
      for (const storage::TrialRecord& trial : TrialsWhere(cohort, suspended)) {
        step.Move(trial, TrialState::kQueued, "resumed by command");
        ++answer.queued;
      }
    }
  }
  answer.waiting = sweep.Count(TrialState::kQueued);
  step.Touch(id);
  CompleteIfDone(step, id);
  return answer;
}

void Keep(Step& step, const std::string& request_id, const std::string& asked,
          const std::vector<int64_t>& numbers) {
  step.Do(storage::KeepAnswer{request_id, asked + " " + NumbersText(numbers),
                              step.now.wall});
}

absl::Status NoSuchSweep(SweepId sweep) {
  return absl::NotFoundError("no unfinished sweep " + ToText(sweep));
}

}  // namespace

void TellToStop(Step& step, const LiveAttempt& live) {
  for (const LivePart& part : live.parts) {
    if (part.has_ended) continue;
    TellNode(step, part.node,
             StopOrder{live.record.key, live.record.stop_reason});
  }
}

void Apply(Step& step, const PauseSweep& command) {
  if (command.kept_answer) {
    step.outcome.answer = Repeat(command);
    return;
  }
  Sweep* sweep = step.state.FindSweep(command.sweep);
  if (!sweep) {
    step.outcome.answer = NoSuchSweep(command.sweep);
    return;
  }
  const PauseAnswer answer = Pause(step, *sweep, command.stop);
  Keep(step, command.request_id, Asked(command),
       {answer.changed ? 1 : 0, answer.stopping, answer.running,
        answer.waiting});
  step.outcome.answer = answer;
}

void Apply(Step& step, const ResumeSweep& command) {
  if (command.kept_answer) {
    step.outcome.answer = Repeat(command);
    return;
  }
  Sweep* sweep = step.state.FindSweep(command.sweep);
  if (!sweep) {
    step.outcome.answer = NoSuchSweep(command.sweep);
    return;
  }
  const ResumeAnswer answer = Resume(step, *sweep);
  Keep(step, command.request_id, Asked(command),
       {answer.changed ? 1 : 0, answer.queued, answer.waiting});
  step.outcome.answer = answer;
}

}  // namespace leadline::control
