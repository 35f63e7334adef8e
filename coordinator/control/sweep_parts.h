// How control's picture of a sweep is put together from what is stored of it.

#pragma once

#include <vector>

#include "coordinator/control/state.h"
#include "storage/store.h"

namespace leadline::control {

int64_t& CountOf(Sweep& sweep, TrialState state);

/// What has ended is counted as done, or taken back.
void CountWork(Sweep& sweep, const Cell& cell, TrialState trial, int sign);

void AddCell(Sweep& sweep, const storage::CellRecord& record,
             const CellNeeds& needs);

/// Of cells that are there.
void AddParts(Sweep& sweep, const std::vector<storage::CohortRecord>& cohorts,
              const std::vector<storage::TrialRecord>& trials);

Cohort& CohortOf(Sweep& sweep, const CohortId& id);

/// Where its last attempt may live on.
void NoteCancelled(Cohort& cohort, const storage::AttemptRecord& attempt);

}  // namespace leadline::control
