// Why a sweep or a trial is where it is, as far as control knows: what decides
// about its future. What is past is in the store.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/experiment.h"
#include "common/ids.h"
#include "coordinator/control/moment.h"
#include "storage/records.h"

namespace leadline::control {

/// Trials that wait for one thing.
struct WaitNow {
  TrialState state = TrialState::kQueued;
  std::string reason;
  std::optional<Seconds> retry_in;  // the soonest, where time decides
  int64_t trials = 0;
  TrialId first;
};

/// An attempt without an end.
struct LiveNow {
  storage::AttemptRecord record;
  TrialState state = TrialState::kLeased;
  Seconds lease_left{0};                // negative: it ended so long ago
  std::optional<Seconds> given_up_in;   // unless it is heard before
  std::optional<Seconds> since_record;  // null: its trainer was not heard
  int64_t step = 0;
  int64_t steps = 0;  // planned
  double tokens_per_second = 0;
  std::string waiting_for;  // why its trainer has not begun, where known
  int64_t trials = 0;       // that it holds
  TrialId first;
};

struct TrialNow {
  storage::TrialRecord record;
  storage::CohortRecord cohort;
  std::optional<WaitNow> wait;
  std::optional<LiveNow> live;
};

struct Explanation {
  SweepId sweep;
  SweepState state = SweepState::kActive;
  std::string waiting_for;  // why nothing runs; empty otherwise
  int64_t live_agents = 0;
  int64_t tries = 0;  // in a row, of a cohort
  int64_t tries_in_total = 0;
  storage::WallTime now{};
  // Of a sweep:
  std::vector<WaitNow> waiting;  // most trials first
  int64_t waiting_left_out = 0;
  std::vector<LiveNow> running;
  int64_t running_left_out = 0;
  // Of a trial:
  std::optional<TrialNow> trial;
};

}  // namespace leadline::control
