#include "coordinator/control/progress.h"

#include <algorithm>

namespace leadline::control {
namespace {

constexpr Seconds kWindow{60};  // the rate is that of the last minute

/// Of each open trial of a live cohort, 0 to 1.
double FractionDone(const Cell& cell, const Cohort& cohort) {
  if (cell.record.steps <= 0) return 0;
  return std::min(1.0, static_cast<double>(cohort.live->step) /
                           static_cast<double>(cell.record.steps));
}

template <typename Weight>
double DoneOfLive(const State& state, const Sweep& sweep, Weight weight) {
  double done = 0;
  const SweepId id = sweep.record.id;
  for (auto at = state.live.lower_bound({{id, 0}, 0});
       at != state.live.end() && at->cell.sweep == id; ++at) {
    const Cell& cell = sweep.cells[at->cell.number - 1];
    const Cohort& cohort = cell.cohorts[at->number];
    for (const storage::TrialRecord& trial : cohort.trials) {
      if (!IsEnded(trial.state))
        done += weight(cell) * FractionDone(cell, cohort);
    }
  }
  return done;
}

/// Of all trials; those that have ended count as a whole.
double WorkDone(const State& state, const Sweep& sweep) {
  return sweep.work.ended +
         DoneOfLive(state, sweep, [](const Cell& cell) { return cell.work; });
}

double StepsDone(const State& state, const Sweep& sweep) {
  return sweep.steps.ended + DoneOfLive(state, sweep, [](const Cell& cell) {
           return static_cast<double>(cell.record.steps);
         });
}

std::optional<double> SecondsLeft(const State& state, const Sweep& sweep) {
  if (sweep.samples.size() < 2) return std::nullopt;
  const WorkSample& first = sweep.samples.front();
  const WorkSample& last = sweep.samples.back();
  const double seconds = Seconds(last.at - first.at).count();
  const double rate = (last.done - first.done) / seconds;
  if (seconds <= 0 || rate <= 0) return std::nullopt;
  return std::max(0.0, sweep.work.planned - WorkDone(state, sweep)) / rate;
}

/// "12 queued, 2 unreachable": what would run if something could.
std::string Unserved(const Sweep& sweep) {
  std::string text =
      std::to_string(sweep.Count(TrialState::kQueued)) + " queued";
  const int64_t unreachable = sweep.Count(TrialState::kUnreachable);
  if (unreachable > 0) {
    text += ", " + std::to_string(unreachable) + " unreachable";
  }
  return text;
}

/// `held_up`: what an attempt that was placed still waits for. Empty while
/// something trains: those that wait hold nobody up then.
std::string WhyNothingRuns(const State& state, const Sweep& sweep,
                           const std::string& held_up) {
  if (sweep.Count(TrialState::kRunning) > 0) return "";
  if (sweep.Count(TrialState::kLeased) > 0) return held_up;
  if (sweep.record.state == SweepState::kPaused) return PausedText(sweep);
  if (state.work_wanted && CountLiveAgents(state) == 0) {
    return "no live agents, " + Unserved(sweep);
  }
  if (!sweep.waiting_for.empty()) return sweep.waiting_for;
  return sweep.Count(TrialState::kUnreachable) > 0
             ? "the agent that holds its trials is not heard"
             : "";
}

}  // namespace

std::string PausedText(const Sweep& sweep) {
  return "the sweep is paused; leadline resume " + ToText(sweep.record.id) +
         " goes on";
}

int64_t CountLiveAgents(const State& state) {
  return std::ranges::count_if(state.nodes, [](const auto& entry) {
    return entry.second.session.has_value();
  });
}

ProgressReport Report(const State& state, const Sweep& sweep) {
  ProgressReport report;
  report.sweep = sweep.record.id;
  report.name = sweep.record.name;
  report.state = sweep.record.state;
  report.trials = sweep.trials;
  report.planned = sweep.CountPlanned();
  report.fraction_done = sweep.steps.planned > 0
                             ? StepsDone(state, sweep) / sweep.steps.planned
                             : 0;
  report.failures.assign(sweep.failures.begin(), sweep.failures.end());
  if (report.state != SweepState::kActive &&
      report.state != SweepState::kPaused) {
    return report;
  }
  std::string held_up;
  const auto first = state.live.lower_bound({{report.sweep, 0}, 0});
  for (auto id = first;
       id != state.live.end() && id->cell.sweep == report.sweep; ++id) {
    const Cell& cell = sweep.cells[id->cell.number - 1];
    const LiveAttempt& live = *cell.cohorts[id->number].live;
    report.tokens_per_second += live.tokens_per_second;
    if (held_up.empty()) held_up = live.WaitingFor();
  }
  report.seconds_left = SecondsLeft(state, sweep);
  report.can_run = sweep.can_run;
  report.waiting_for = WhyNothingRuns(state, sweep, held_up);
  return report;
}

void SampleWork(State& state, SteadyTime now) {
  for (auto& [id, sweep] : state.sweeps) {
    if (sweep.record.state != SweepState::kActive) continue;
    // Time in which nothing runs says nothing about speed.
    if (state.CountLive(id) == 0) {
      sweep.samples.clear();
      continue;
    }
    state.looked_at += state.CountLive(id);
    sweep.samples.push_back({now, WorkDone(state, sweep)});
    while (Seconds(now - sweep.samples.front().at) > kWindow) {
      sweep.samples.pop_front();
    }
  }
}

}  // namespace leadline::control
