// How the durable half of the state moves: with committed changes, and with
// what is read from the store.

#pragma once

#include <map>
#include <set>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/state.h"
#include "storage/store.h"

namespace leadline::control {

/// Moves the durable half as a committed change does.
void Fold(State& state, const storage::Change& change);

/// It is not in memory any more; what it consists of is freed bit by bit. The
/// next one; nothing if it is the end.
std::map<SweepId, Sweep>::iterator Forget(
    State& state, std::map<SweepId, Sweep>::iterator sweep);

/// What the settings of a cell say. Those that cannot be read (of a newer
/// version, say) leave it needing one device; its trainer will refuse them.
CellNeeds NeedsOf(const storage::CellRecord& record);

/// A sweep that is stored part by part, as control will know it.
struct StagedSweep {
  Sweep sweep;
  std::set<CohortId> waiting;
  LineMap lines;  // where they are put
};

/// Adds cells that follow those it has, with all of their parts; `needs` of
/// each cell.
void AddPart(StagedSweep& staged, const storage::AddSweep& part,
             const std::vector<CellNeeds>& needs);

/// From now on there is that sweep, all of which waits.
void TakeIn(State& state, StagedSweep&& staged, SteadyTime now);

/// A sweep that has ended and is read from the store part by part.
struct RecalledSweep {
  Sweep sweep;
};

/// Adds cells that follow those it has, with all of their parts.
void AddPart(RecalledSweep& recalled, const storage::SweepContents& part);

/// From now on it is known again, as if its attempts had ended now.
void TakeBack(State& state, RecalledSweep&& recalled, SteadyTime now);

/// Takes over what the store holds. Live attempts get a lease from `now` on.
absl::Status Restore(State& state, const storage::SweepContents& contents,
                     SteadyTime now);

}  // namespace leadline::control
