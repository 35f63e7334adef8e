#include "coordinator/control/progress.h"

#include <algorithm>

namespace leadline::control {
namespace {

constexpr Seconds kWindow{60};  // the rate is that of the last minute

/// Of one trial, 0 to 1.
double FractionDone(const Cell& cell, const Cohort& cohort,
                    const storage::TrialRecord& trial) {
  if (IsEnded(trial.state)) return 1;
  if (!cohort.live || cell.record.steps <= 0) return 0;
  return std::min(1.0, static_cast<double>(cohort.live->step) /
                           static_cast<double>(cell.record.steps));
}

struct Work {
  double done = 0;
  double planned = 0;
};

/// Adds up all trials, each weighing what `weight` says of its cell.
template <typename Weight>
Work Sum(const Sweep& sweep, Weight weight) {
  Work work;
  for (const Cell& cell : sweep.cells) {
    const double each = weight(cell);
    for (const Cohort& cohort : cell.cohorts) {
      for (const storage::TrialRecord& trial : cohort.trials) {
        work.planned += each;
        work.done += each * FractionDone(cell, cohort, trial);
      }
    }
  }
  return work;
}

Work SumWork(const Sweep& sweep) {
  return Sum(sweep, [](const Cell& cell) { return cell.work; });
}

Work SumSteps(const Sweep& sweep) {
  return Sum(sweep, [](const Cell& cell) {
    return static_cast<double>(cell.record.steps);
  });
}

std::optional<double> SecondsLeft(const Sweep& sweep) {
  if (sweep.samples.size() < 2) return std::nullopt;
  const WorkSample& first = sweep.samples.front();
  const WorkSample& last = sweep.samples.back();
  const double seconds = Seconds(last.at - first.at).count();
  const double rate = (last.done - first.done) / seconds;
  if (seconds <= 0 || rate <= 0) return std::nullopt;
  const Work work = SumWork(sweep);
  return std::max(0.0, work.planned - work.done) / rate;
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
  const Work steps = SumSteps(sweep);
  report.fraction_done = steps.planned > 0 ? steps.done / steps.planned : 0;
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
  report.seconds_left = SecondsLeft(sweep);
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
    sweep.samples.push_back({now, SumWork(sweep).done});
    while (Seconds(now - sweep.samples.front().at) > kWindow) {
      sweep.samples.pop_front();
    }
  }
}

}  // namespace leadline::control
