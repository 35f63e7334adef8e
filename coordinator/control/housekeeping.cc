#include "coordinator/control/housekeeping.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/request_answers.h"

namespace leadline::control {
namespace {

constexpr size_t kMostTags = 32;

std::string Asked(const EditSweep& command) {
  std::string text = "edit " + ToText(command.sweep);
  if (command.archived) text += *command.archived ? " archive" : " unarchive";
  for (const std::string& tag : command.add_tags) text += " +" + tag;
  for (const std::string& tag : command.remove_tags) text += " -" + tag;
  if (command.note) text += " note " + *command.note;
  return text;
}

std::string Asked(const RemoveTargets& command) {
  std::string text = "remove ";
  for (const Target& target : command.targets) {
    text += (text.back() == ' ' ? "" : ",") + ToText(target);
  }
  return text;
}

bool IsOver(SweepState state) {
  return state == SweepState::kComplete || state == SweepState::kCancelled;
}

/// In memory, or as the store has it; null if there is none.
const storage::SweepRecord* FindRecord(
    const Step& step, const std::vector<storage::SweepRecord>& ended,
    SweepId id) {
  const auto here = step.state.sweeps.find(id);
  if (here != step.state.sweeps.end()) return &here->second.record;
  const auto stored = std::find_if(ended.begin(), ended.end(),
                                   [&](const auto& s) { return s.id == id; });
  return stored == ended.end() ? nullptr : &*stored;
}

absl::Status NotThere(SweepId id) {
  return absl::NotFoundError("no sweep " + leadline::ToText(id));
}

std::vector<std::string> TagsAfter(const std::vector<std::string>& before,
                                   const EditSweep& command) {
  std::set<std::string> tags(before.begin(), before.end());
  for (const std::string& tag : command.remove_tags) tags.erase(tag);
  tags.insert(command.add_tags.begin(), command.add_tags.end());
  return {tags.begin(), tags.end()};
}

absl::StatusOr<storage::DescribeSweep> Edited(
    const Step& step, const storage::SweepRecord& record,
    const EditSweep& command) {
  storage::DescribeSweep change{record.id, record.archived_at, record.note,
                                TagsAfter(record.tags, command)};
  if (change.tags.size() > kMostTags) {
    return absl::InvalidArgumentError("sweep " + leadline::ToText(record.id) +
                                      " would have more than 32 tags");
  }
  if (command.note) change.note = *command.note;
  if (!command.archived) return change;
  if (*command.archived && !IsOver(record.state)) {
    return absl::FailedPreconditionError(
        "sweep " + leadline::ToText(record.id) + " is " +
        std::string(Name(record.state)) +
        "; one that has ended can be archived: cancel it first");
  }
  if (!*command.archived) {
    change.archived_at.reset();
  } else if (!change.archived_at) {
    change.archived_at = step.now.wall;
  }
  return change;
}

bool IsAsBefore(const storage::DescribeSweep& change,
                const storage::SweepRecord& record) {
  return change.archived_at == record.archived_at &&
         change.note == record.note && change.tags == record.tags;
}

/// Why one that has ended cannot go, or none does.
struct RemovalCheck {
  const Step& step;
  const std::vector<storage::SweepRecord>& ended;

  absl::Status operator()(SweepId id) const {
    const storage::SweepRecord* record = FindRecord(step, ended, id);
    if (!record) return NotThere(id);
    if (!IsOver(record->state)) {
      return absl::FailedPreconditionError(
          "sweep " + leadline::ToText(id) + " is " +
          std::string(Name(record->state)) + "; cancel it first");
    }
    if (step.state.CountLive(id) == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        "an attempt of sweep " + leadline::ToText(id) +
        " is still ending; try again when it has");
  }

  absl::Status operator()(CellId id) const {
    return absl::InvalidArgumentError(
        "cell " + leadline::ToText(id) +
        " cannot be removed alone; name its sweep, or its trials");
  }

  absl::Status operator()(TrialId id) const {
    const SweepId sweep = id.cell.sweep;
    if (!FindRecord(step, ended, sweep)) return NotThere(sweep);
    // Where its sweep is not in memory it has ended, and no attempt is live.
    if (!step.state.FindSweep(sweep)) return absl::OkStatus();
    const storage::TrialRecord* trial = step.state.FindTrial(id);
    if (!trial) {
      return absl::NotFoundError("no trial " + leadline::ToText(id));
    }
    if (IsEnded(trial->state) && !step.state.FindCohort(trial->cohort)->live) {
      return absl::OkStatus();
    }
    return absl::FailedPreconditionError("trial " + leadline::ToText(id) +
                                         " or another of its cohort is " +
                                         "still trained; cancel it first");
  }
};

struct Remover {
  Step& step;

  void operator()(SweepId id) const {
    step.Do(storage::RemoveSweep{id, step.now.wall});
    step.Touch(id);
  }
  void operator()(CellId) const {}
  void operator()(TrialId id) const { step.Do(storage::DropMeasurements{id}); }
};

/// Each once; trials of sweeps that go as a whole go with them.
std::vector<Target> WithoutRepeats(const std::vector<Target>& targets) {
  std::set<SweepId> sweeps;
  for (const Target& target : targets) {
    if (const auto* sweep = std::get_if<SweepId>(&target)) {
      sweeps.insert(*sweep);
    }
  }
  std::set<TrialId> trials;
  std::vector<Target> rest(sweeps.begin(), sweeps.end());
  for (const Target& target : targets) {
    const auto* trial = std::get_if<TrialId>(&target);
    if (trial && !sweeps.contains(trial->cell.sweep) &&
        trials.insert(*trial).second) {
      rest.emplace_back(*trial);
    }
  }
  return rest;
}

}  // namespace

void Apply(Step& step, const EditSweep& command) {
  if (command.kept_answer) {
    const auto kept = AnswerFor(*command.kept_answer, Asked(command));
    const auto numbers = kept ? ReadNumbers(*kept, 1) : std::nullopt;
    step.outcome.answer =
        numbers ? absl::StatusOr<Answer>(EditAnswer{numbers->front() != 0})
                : UsedOtherwise(command.request_id);
    return;
  }
  const storage::SweepRecord* record =
      FindRecord(step, command.ended, command.sweep);
  if (!record) {
    step.outcome.answer = NotThere(command.sweep);
    return;
  }
  auto change = Edited(step, *record, command);
  if (!change.ok()) {
    step.outcome.answer = change.status();
    return;
  }
  const EditAnswer answer{!IsAsBefore(*change, *record)};
  if (answer.changed) step.Do(*std::move(change));
  step.Do(storage::KeepAnswer{command.request_id,
                              Asked(command) + (answer.changed ? " 1" : " 0"),
                              step.now.wall});
  step.outcome.answer = answer;
}

void Apply(Step& step, const RemoveTargets& command) {
  if (command.kept_answer) {
    const auto kept = AnswerFor(*command.kept_answer, Asked(command));
    const auto numbers = kept ? ReadNumbers(*kept, 2) : std::nullopt;
    step.outcome.answer = numbers ? absl::StatusOr<Answer>(RemoveAnswer{
                                        numbers->at(0), numbers->at(1)})
                                  : UsedOtherwise(command.request_id);
    return;
  }
  // All are looked at before any is removed.
  for (const Target& target : command.targets) {
    absl::Status may = std::visit(RemovalCheck{step, command.ended}, target);
    if (may.ok()) continue;
    step.outcome.answer = std::move(may);
    return;
  }
  if (command.dry_run) return;
  RemoveAnswer answer;
  for (const Target& target : WithoutRepeats(command.targets)) {
    std::visit(Remover{step}, target);
    const bool is_sweep = std::holds_alternative<SweepId>(target);
    ++(is_sweep ? answer.sweeps : answer.trials);
  }
  step.Do(storage::KeepAnswer{
      command.request_id,
      Asked(command) + " " + NumbersText({answer.sweeps, answer.trials}),
      step.now.wall});
  step.outcome.answer = answer;
}

}  // namespace leadline::control
