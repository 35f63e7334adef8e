#include "coordinator/control/sweep_parts.h"

#include <algorithm>
#include <utility>

#include "coordinator/control/fold.h"

namespace leadline::control {

int64_t& CountOf(Sweep& sweep, TrialState state) {
  return sweep.trials[static_cast<size_t>(state)];
}

void CountWork(Sweep& sweep, const Cell& cell, TrialState trial, int sign) {
  if (!IsEnded(trial)) return;
  sweep.work.ended += sign * cell.work;
  sweep.steps.ended += sign * static_cast<double>(cell.record.steps);
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

void NoteCancelled(Cohort& cohort, const storage::AttemptRecord& attempt) {
  for (const LivePart& part : PartsOf(attempt)) {
    cohort.cancelled_on.insert(part.node);
  }
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

}  // namespace leadline::control
