#include "coordinator/control/errands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/control/attempts.h"
#include "coordinator/control/failure_limits.h"
#include "coordinator/control/retry.h"
#include "coordinator/control/sweeps.h"

namespace leadline::control {
namespace {

int64_t Treat(Step& step, const storage::ErrandRecord& errand, Cohort& cohort) {
  switch (errand.kind) {
    case storage::ErrandKind::kCancel:
      return CancelOpenTrials(step, cohort, kCancelledByCommand);
    case storage::ErrandKind::kRetry:
      return QueueAgain(step, cohort, errand.failed, errand.cancelled);
    case storage::ErrandKind::kStop:
      return StopCohort(step, cohort);
  }
  return 0;
}

/// False if there is more to do.
bool TreatSome(Step& step, Sweep& sweep, Errand& errand) {
  const auto end = errand.record.cell ? static_cast<size_t>(*errand.record.cell)
                                      : sweep.cells.size();
  int64_t moved = 0;
  for (; errand.cell < end; ++errand.cell, errand.cohort = 0) {
    std::vector<Cohort>& cohorts = sweep.cells[errand.cell].cohorts;
    for (; errand.cohort < cohorts.size(); ++errand.cohort) {
      if (moved >= step.policy.most_moves) return false;
      moved += Treat(step, errand.record, cohorts[errand.cohort]);
    }
  }
  return true;
}

void CarryOnWith(Step& step, Sweep& sweep) {
  Errand& errand = sweep.errands.front();
  if (!TreatSome(step, sweep, errand)) return;
  const storage::ErrandRecord done = errand.record;
  step.Do(storage::EndErrand{done});
  step.Touch(done.sweep);
  if (done.kind == storage::ErrandKind::kCancel && !done.cell) {
    step.Do(storage::MoveSweep{done.sweep, sweep.record.state,
                               SweepState::kCancelled});
  } else {
    CompleteIfDone(step, done.sweep);
  }
}

}  // namespace

bool HasErrands(const State& state) {
  return std::ranges::any_of(state.sweeps, [](const auto& entry) {
    return !entry.second.errands.empty();
  });
}

bool IsBusy(const State& state, SweepId id) {
  const auto sweep = state.sweeps.find(id);
  return sweep != state.sweeps.end() && !sweep->second.errands.empty();
}

void Begin(Step& step, const storage::ErrandRecord& record) {
  const Sweep& sweep = *step.state.FindSweep(record.sweep);
  const bool is_begun =
      std::ranges::any_of(sweep.errands, [&](const Errand& errand) {
        return errand.record.kind == record.kind &&
               errand.record.cell == record.cell;
      });
  if (!is_begun) step.Do(storage::BeginErrand{record});
}

std::string ErrandText(const Sweep& sweep) {
  switch (sweep.errands.front().record.kind) {
    case storage::ErrandKind::kCancel:
      return "it is being cancelled";
    case storage::ErrandKind::kRetry:
      return "its trials are being queued again";
    case storage::ErrandKind::kStop:
      return "it is being stopped: " + sweep.record.stopped_because;
  }
  return "";
}

void Apply(Step& step, const CarryOn&) {
  for (auto& [id, sweep] : step.state.sweeps) {
    if (!sweep.errands.empty()) return CarryOnWith(step, sweep);
  }
}

}  // namespace leadline::control
