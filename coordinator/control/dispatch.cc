#include "coordinator/control/dispatch.h"

#include <algorithm>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/attempt_messages.h"
#include "coordinator/control/attempts.h"
#include "coordinator/control/errands.h"
#include "coordinator/control/explain.h"
#include "coordinator/control/fold.h"
#include "coordinator/control/hopeless.h"
#include "coordinator/control/housekeeping.h"
#include "coordinator/control/node_queries.h"
#include "coordinator/control/nodes.h"
#include "coordinator/control/overview.h"
#include "coordinator/control/parts.h"
#include "coordinator/control/pausing.h"
#include "coordinator/control/progress.h"
#include "coordinator/control/quarantine.h"
#include "coordinator/control/records.h"
#include "coordinator/control/retry.h"
#include "coordinator/control/standing.h"
#include "coordinator/control/sweeps.h"

namespace leadline::control {
namespace {

/// How long a sweep that has ended is remembered for those who watch it.
constexpr Seconds kMemory{10};
constexpr size_t kFreedATick = 10'000;  // cells

void Apply(Step& step, const LookAtSweep& command) {
  const Sweep* sweep = step.state.FindSweep(command.sweep);
  if (!sweep) {
    step.outcome.answer =
        absl::NotFoundError("no unfinished sweep " + ToText(command.sweep));
    return;
  }
  step.outcome.answer = Report(step.state, *sweep);
}

void Apply(Step& step, const ClientsWantWork& command) {
  step.state.work_wanted = command.wanted;
  step.state.must_place = true;
}

bool HasEnded(const Sweep& sweep) {
  return sweep.record.state == SweepState::kComplete ||
         sweep.record.state == SweepState::kCancelled;
}

void ForgetEndedSweeps(Step& step) {
  for (auto at = step.state.sweeps.begin(); at != step.state.sweeps.end();) {
    Sweep& sweep = at->second;
    if (!HasEnded(sweep)) {
      ++at;
      continue;
    }
    if (!sweep.ended_at) sweep.ended_at = step.now.steady;
    const bool forget = step.now.steady - *sweep.ended_at > kMemory &&
                        step.state.CountLive(at->first) == 0;
    at = forget ? Forget(step.state, at) : std::next(at);
  }
}

void FreeForgotten(State& state) {
  size_t left = kFreedATick;
  while (!state.forgotten.empty() && left > 0) {
    std::vector<Cell>& cells = state.forgotten.back();
    for (; !cells.empty() && left > 0; --left) cells.pop_back();
    if (cells.empty()) state.forgotten.pop_back();
  }
}

/// Until when it takes no canary is over, or is told with what waits for it.
bool WaitsForTime(const State& state, const Node& node) {
  return node.session && node.record.quarantined && !node.record.canary &&
         node.closed_until > state.planned_at;
}

/// Backoffs, quarantines and the reasons that name them move with the time.
bool SomethingWaitsForTime(const State& state) {
  if (!state.waiting.empty() &&
      std::ranges::any_of(state.nodes, [&](const auto& entry) {
        return WaitsForTime(state, entry.second);
      })) {
    return true;
  }
  return !state.lines.kept_back.empty();
}

void Apply(Step& step, const Tick&) {
  CheckLeases(step);
  CheckSuspicions(step);
  ForgetEndedSweeps(step);
  FreeForgotten(step.state);
  FailWhatIsHopeless(step);
  SampleWork(step.state, step.now.steady);
  if (SomethingWaitsForTime(step.state)) step.state.must_place = true;
}

}  // namespace

void Dispatch(Step& step, const Command& command) {
  std::visit([&](const auto& one) { Apply(step, one); }, command);
}

}  // namespace leadline::control
