#include "coordinator/control/fold.h"

#include <algorithm>
#include <utility>

#include "coordinator/control/sweep_parts.h"
#include "model/spec/cost.h"
#include "model/spec/identity.h"

namespace leadline::control {
namespace {

void UpdateSets(State& state, const CohortId& id, Cohort& cohort) {
  if (cohort.Waits()) {
    state.waiting.insert(id);
  } else {
    state.waiting.erase(id);
  }
  if (cohort.live) {
    state.live.insert(id);
  } else {
    state.live.erase(id);
  }
  state.lines.moved.push_back(id);
  state.must_place = true;
}

Errand Begun(const storage::ErrandRecord& record) {
  return {record, static_cast<size_t>(record.cell.value_or(1) - 1), 0};
}

void Add(State& state, const storage::SweepContents& contents) {
  Sweep& sweep = state.sweeps[contents.sweep.id];
  sweep.record = contents.sweep;
  for (const storage::CellRecord& record : contents.cells) {
    AddCell(sweep, record, NeedsOf(record));
  }
  AddParts(sweep, contents.cohorts, contents.trials);
  for (const storage::ErrandRecord& errand : contents.errands) {
    sweep.errands.push_back(Begun(errand));
  }
  state.next_sweep.value =
      std::max(state.next_sweep.value, contents.sweep.id.value + 1);
}

void FoldRow(storage::SweepRecord& sweep, storage::RowEffect effect) {
  if (effect == storage::RowEffect::kNone) return;
  sweep.failures_in_row =
      effect == storage::RowEffect::kLonger ? sweep.failures_in_row + 1 : 0;
  if (effect == storage::RowEffect::kEndsWithStop) {
    sweep.stopped_because.clear();
  }
}

struct Folder {
  State& state;

  void operator()(const storage::AddSweep& add) {
    Add(state, {add.sweep, add.cells, add.cohorts, add.trials, {}});
    for (const storage::CohortRecord& cohort : add.cohorts) {
      UpdateSets(state, cohort.id, *state.FindCohort(cohort.id));
    }
  }
  // What control knows of it is taken in apart.
  void operator()(const storage::StageSweep&) {}
  void operator()(const storage::AdmitSweep&) {}
  void operator()(const storage::MoveSweep& move) {
    if (Sweep* sweep = state.FindSweep(move.sweep)) {
      sweep->record.state = move.to;
      state.must_place = true;
    }
  }
  void operator()(const storage::DescribeSweep& change) {
    Sweep* sweep = state.FindSweep(change.sweep);
    if (!sweep) return;
    sweep->record.archived_at = change.archived_at;
    sweep->record.note = change.note;
    sweep->record.tags = change.tags;
  }
  void operator()(const storage::RemoveSweep& change) {
    Forget(state, state.sweeps.find(change.sweep));
  }
  void operator()(const storage::MoveTrial& move) {
    storage::TrialRecord* trial = state.FindTrial(move.trial);
    if (!trial) return;
    Sweep& sweep = *state.FindSweep(move.trial.cell.sweep);
    --CountOf(sweep, trial->state);
    ++CountOf(sweep, move.to);
    const Cell& cell = *state.FindCell(move.trial.cell);
    CountWork(sweep, cell, trial->state, -1);
    CountWork(sweep, cell, move.to, 1);
    trial->state = move.to;
    trial->reason = move.reason;
    FoldRow(sweep.record, storage::EffectOnRow(move));
    UpdateSets(state, trial->cohort, *state.FindCohort(trial->cohort));
  }
  void operator()(const storage::StartAttempt& start) {
    const CohortId id = start.attempt.key.cohort;
    if (Cohort* cohort = state.FindCohort(id)) {
      cohort->live.emplace();
      cohort->live->record = start.attempt;
      cohort->live->parts = PartsOf(start.attempt);
      cohort->record.attempts = start.attempt.key.number;
      UpdateSets(state, id, *cohort);
    }
  }
  void operator()(const storage::DescribeAttempt&) {}
  void operator()(const storage::SetStanding& set) {
    Cohort* cohort = state.FindCohort(set.cohort.id);
    if (!cohort) return;
    const int64_t attempts = cohort->record.attempts;
    cohort->record = set.cohort;
    cohort->record.attempts = attempts;
    state.lines.moved.push_back(set.cohort.id);
  }
  void operator()(const storage::StopSweep& stop) {
    if (Sweep* sweep = state.FindSweep(stop.sweep)) {
      sweep->record.stopped_because = stop.because;
      state.must_place = true;
    }
  }
  void operator()(const storage::SetNode& set) {
    Node& node = state.nodes[set.node.name];
    node.name = set.node.name;
    node.record = set.node;
    state.must_place = true;
  }
  void operator()(const storage::EndAttempt& end) {
    if (!state.FindLive(end.attempt)) return;
    Cohort& cohort = *state.FindCohort(end.attempt.cohort);
    cohort.live.reset();
    UpdateSets(state, end.attempt.cohort, cohort);
  }
  void operator()(const storage::SetRankPids& set) {
    LiveAttempt* live = state.FindLive(set.attempt);
    if (!live) return;
    for (const storage::SetRankPids::Pid& said : set.pids) {
      live->record.ranks.at(static_cast<size_t>(said.rank)).pid = said.pid;
    }
  }
  void operator()(const storage::AskToStop& ask) {
    LiveAttempt* live = state.FindLive(ask.attempt);
    if (live && live->record.stop_reason.empty()) {
      live->record.stop_reason = ask.reason;
    }
  }
  void operator()(const storage::Acknowledge& acknowledge) {
    if (LiveAttempt* live = state.FindLive(acknowledge.attempt)) {
      live->record.last_sequence =
          std::max(live->record.last_sequence, acknowledge.sequence);
      live->record.step = std::max(live->record.step, acknowledge.step);
    }
  }
  // What was measured is the store's alone.
  void operator()(const storage::AddPoints&) {}
  void operator()(const storage::AddRouting&) {}
  void operator()(const storage::AddWindows&) {}
  void operator()(const storage::AddResult&) {}
  void operator()(const storage::KeepOrphan&) {}
  void operator()(const storage::KeepAnswer&) {}
  void operator()(const storage::BeginErrand& change) {
    if (Sweep* sweep = state.FindSweep(change.errand.sweep)) {
      sweep->errands.push_back(Begun(change.errand));
      state.must_place = true;
    }
  }
  void operator()(const storage::EndErrand& change) {
    if (Sweep* sweep = state.FindSweep(change.errand.sweep)) {
      std::erase_if(sweep->errands, [&](const Errand& errand) {
        return errand.record == change.errand;
      });
      state.must_place = true;
    }
  }
  void operator()(const storage::DropMeasurements&) {}
};

}  // namespace

std::map<SweepId, Sweep>::iterator Forget(
    State& state, std::map<SweepId, Sweep>::iterator sweep) {
  if (sweep == state.sweeps.end()) return sweep;
  state.forgotten.push_back(std::move(sweep->second.cells));
  return state.sweeps.erase(sweep);
}

void Fold(State& state, const storage::Change& change) {
  std::visit(Folder{state}, change);
}

CellNeeds NeedsOf(const storage::CellRecord& record) {
  CellNeeds needs;
  needs.work = static_cast<double>(record.steps);
  const auto read = spec::ReadSettingsJson(record.settings_json);
  const spec::Settings* settings = std::get_if<spec::Settings>(&read);
  if (!settings || !settings->Has("devices") || !settings->Has("threads")) {
    return needs;
  }
  needs.devices = settings->Integer("devices");
  needs.threads = settings->Integer("threads");
  if (spec::Resolve(settings->values()).errors.empty()) {
    needs.work = spec::CountTrainingFlops(*settings, record.dataset.vocabulary);
  }
  return needs;
}

absl::Status Restore(State& state, const storage::SweepContents& contents,
                     SteadyTime now) {
  Add(state, contents);
  for (const storage::AttemptRecord& attempt : contents.live) {
    Cohort* cohort = state.FindCohort(attempt.key.cohort);
    if (!cohort) {
      return absl::InternalError("attempt " + ToText(attempt.key) +
                                 " has no cohort in the store");
    }
    cohort->live.emplace();
    cohort->live->record = attempt;
    cohort->live->parts = PartsOf(attempt);
    for (LivePart& part : cohort->live->parts) part.renewed = now;
    cohort->live->step = attempt.step;
  }
  for (const storage::AttemptRecord& attempt : contents.cancelled) {
    if (Cohort* cohort = state.FindCohort(attempt.key.cohort)) {
      NoteCancelled(*cohort, attempt);
    }
  }
  for (const storage::CohortRecord& cohort : contents.cohorts) {
    UpdateSets(state, cohort.id, *state.FindCohort(cohort.id));
  }
  return absl::OkStatus();
}

}  // namespace leadline::control
