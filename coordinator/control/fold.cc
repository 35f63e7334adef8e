#include "coordinator/control/fold.h"

#include <algorithm>
#include <utility>

#include "model/spec/cost.h"
#include "model/spec/identity.h"

namespace leadline::control {
namespace {

int64_t& CountOf(Sweep& sweep, TrialState state) {
  return sweep.trials[static_cast<size_t>(state)];
}

void CountWork(Sweep& sweep, const Cell& cell, TrialState trial, int sign) {
  if (!IsEnded(trial)) return;
  sweep.work.ended += sign * cell.work;
  sweep.steps.ended += sign * static_cast<double>(cell.record.steps);
}

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

void AddCell(Sweep& sweep, const storage::CellRecord& record,
             const CellNeeds& needs) {
  Cell& cell = sweep.cells.emplace_back();
  static_cast<CellNeeds&>(cell) = needs;
  cell.record = record;
}

Cohort& CohortOf(Sweep& sweep, const CohortId& id) {
  return sweep.cells.at(static_cast<size_t>(id.cell.number - 1))
      .cohorts.at(static_cast<size_t>(id.number));
}

/// Of cells that are there.
void AddParts(Sweep& sweep, const std::vector<storage::CohortRecord>& cohorts,
              const std::vector<storage::TrialRecord>& trials) {
  for (const storage::CohortRecord& record : cohorts) {
    sweep.cells.at(static_cast<size_t>(record.id.cell.number - 1))
        .cohorts.emplace_back()
        .record = record;
  }
  for (const storage::TrialRecord& trial : trials) {
    const Cell& cell =
        sweep.cells.at(static_cast<size_t>(trial.id.cell.number - 1));
    CohortOf(sweep, trial.cohort).trials.push_back(trial);
    ++CountOf(sweep, trial.state);
    sweep.work.planned += cell.work;
    sweep.steps.planned += static_cast<double>(cell.record.steps);
    CountWork(sweep, cell, trial.state, 1);
  }
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

/// Where its last attempts may live on.
void NoteCancelled(Cohort& cohort, const storage::AttemptRecord& attempt) {
  for (const LivePart& part : PartsOf(attempt)) {
    cohort.cancelled_on.insert(part.node);
  }
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
    state.sweeps.erase(change.sweep);
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

void AddPart(StagedSweep& staged, const storage::AddSweep& part,
             const std::vector<CellNeeds>& needs) {
  staged.sweep.record = part.sweep;
  for (size_t i = 0; i < part.cells.size(); ++i) {
    AddCell(staged.sweep, part.cells[i], needs.at(i));
  }
  AddParts(staged.sweep, part.cohorts, part.trials);
  for (const storage::CohortRecord& record : part.cohorts) {
    staged.waiting.emplace_hint(staged.waiting.end(), record.id);
    const Cell& cell =
        staged.sweep.cells.at(static_cast<size_t>(record.id.cell.number - 1));
    Cohort& cohort = CohortOf(staged.sweep, record.id);
    cohort.place.line =
        staged.lines
            .try_emplace({record.id.cell.sweep, {cell.devices, cell.threads}})
            .first;
    auto& cohorts = (*cohort.place.line)->second.cohorts;
    cohorts.emplace_hint(cohorts.end(), record.id);
  }
}

void TakeIn(State& state, StagedSweep&& staged, SteadyTime now) {
  const SweepId id = staged.sweep.record.id;
  state.lines.by_age[id][now] = std::ssize(staged.waiting);
  for (Cell& cell : staged.sweep.cells) {
    for (Cohort& cohort : cell.cohorts) cohort.place.since = now;
  }
  // Cohorts refer to their lines, which stay where they are.
  state.lines.lines.merge(staged.lines);
  if (state.waiting.empty()) {
    state.waiting.swap(staged.waiting);
  } else {
    state.waiting.merge(staged.waiting);
  }
  state.sweeps.insert_or_assign(id, std::move(staged.sweep));
  state.next_sweep.value = std::max(state.next_sweep.value, id.value + 1);
  state.must_place = true;
}

void AddPart(RecalledSweep& recalled, const storage::SweepContents& part) {
  Sweep& sweep = recalled.sweep;
  sweep.record = part.sweep;
  for (const storage::CellRecord& record : part.cells) {
    AddCell(sweep, record, NeedsOf(record));
  }
  AddParts(sweep, part.cohorts, part.trials);
  for (const storage::AttemptRecord& attempt : part.cancelled) {
    NoteCancelled(CohortOf(sweep, attempt.key.cohort), attempt);
  }
}

void TakeBack(State& state, RecalledSweep&& recalled, SteadyTime now) {
  const SweepId id = recalled.sweep.record.id;
  Sweep& sweep = state.sweeps[id];
  sweep = std::move(recalled.sweep);
  for (Cell& cell : sweep.cells) {
    for (Cohort& cohort : cell.cohorts) cohort.ended_at = now;
  }
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
