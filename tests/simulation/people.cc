#include "people.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace leadline::simulation {
namespace {

constexpr double kAsksAgainAfter_s = 20;

control::NewSweep MakeSweep(const SweepPlan& plan, int64_t number) {
  control::NewSweep sweep;
  sweep.sweep.name = "sweep " + std::to_string(number);
  sweep.sweep.canonical_hash = "hash" + std::to_string(number);
  if (plan.parallel_limit > 0) {
    sweep.sweep.parallel_limit = plan.parallel_limit;
  }
  if (plan.failure_limit > 0) sweep.sweep.failure_limit = plan.failure_limit;
  if (plan.failure_row_limit > 0) {
    sweep.sweep.failure_row_limit = plan.failure_row_limit;
  }
  if (plan.finishes) sweep.sweep.on_failures = OnFailures::kFinish;
  for (int64_t seed = 0; seed < plan.seeds; ++seed) sweep.seeds.push_back(seed);
  for (const CellWork work : plan.cells) {
    control::NewCell cell;
    cell.record.hash = sweep.sweep.canonical_hash + "/" +
                       std::to_string(std::ssize(sweep.cells));
    cell.record.depth = static_cast<int64_t>(work);
    cell.record.settings_json =
        R"({"depth":)" + std::to_string(cell.record.depth) + R"(,"devices":)" +
        std::to_string(plan.ranks) + R"(,"threads":1})";
    cell.record.axes_json = "{}";
    cell.record.dataset_label = "iid27";
    cell.record.method_label = "prenorm";
    cell.record.dataset = {"iid27", "", "d", "char", {0.9, 0.05, 0.05}, 27};
    cell.record.steps = 10;
    for (int64_t left = plan.seeds; left > 0; left -= plan.cohort_size) {
      cell.cohort_sizes.push_back(std::min(left, plan.cohort_size));
    }
    sweep.cells.push_back(std::move(cell));
  }
  return sweep;
}

/// A sweep, its first cell, or that one's first trial.
control::Target TargetIn(SweepId sweep, int64_t which) {
  const CellId cell{sweep, 1};
  if (which % 3 == 1) return cell;
  if (which % 3 == 2) return TrialId{cell, 0};
  return sweep;
}

}  // namespace

void People::Ask(control::Command command, Told told) {
  ++unanswered_;
  const auto again = [this, command, told](double after_s) {
    around_.clockwork.After(Seconds(after_s), [this, command, told] {
      --unanswered_;
      Ask(command, told);
    });
  };
  if (!coordinator_.IsAwake()) return again(1);
  const auto answered = std::make_shared<bool>(false);
  // Its answer may never come.
  around_.clockwork.After(Seconds(kAsksAgainAfter_s), [answered, again] {
    if (!std::exchange(*answered, true)) again(0);
  });
  coordinator_.Post(command, [this, answered, again,
                              told](absl::StatusOr<control::Answer> answer) {
    if (std::exchange(*answered, true)) return;
    if (!answer.ok() && !absl::IsNotFound(answer.status())) return again(1);
    told(answer);
    --unanswered_;
  });
}

void People::Submit(const SweepPlan& plan, int64_t number) {
  Ask(
      control::SubmitSweep{
          MakeSweep(plan, number), 0, RequestId(), false, {}, {}},
      [this](const absl::StatusOr<control::Answer>& answer) {
        around_.oracle.OnSubmitted(
            std::get<control::SubmitAnswer>(*answer).sweep);
      });
}

bool People::Cancel(int64_t which) {
  const std::vector<SweepId> active = coordinator_.ActiveSweeps();
  if (active.empty()) return false;
  const control::Target target =
      TargetIn(active[static_cast<size_t>(which % std::ssize(active))], which);
  Ask(control::CancelTarget{target, RequestId(), {}},
      [this, target](const absl::StatusOr<control::Answer>& answer) {
        if (answer.ok()) around_.oracle.OnCancelled(target);
      });
  return true;
}

void People::PauseAndResume(SweepId sweep, bool stop, Duration time) {
  ++unanswered_;
  const auto resume = [this, sweep] {
    --unanswered_;
    Ask(control::ResumeSweep{sweep, RequestId(), {}}, [](const auto&) {});
  };
  Ask(control::PauseSweep{sweep, stop, RequestId(), {}},
      [this, time, resume](const auto&) {
        around_.clockwork.After(time, resume);
      });
}

void People::CancelAndRetry(SweepId sweep, int64_t which, Duration time) {
  ++unanswered_;
  const control::Target target = TargetIn(sweep, which);
  Ask(control::CancelTarget{target, RequestId(), {}},
      [this, sweep, target,
       time](const absl::StatusOr<control::Answer>& answer) {
        if (answer.ok()) around_.oracle.OnCancelled(target);
        around_.clockwork.After(time, [this, sweep] {
          --unanswered_;
          Retry(sweep, true);
        });
      });
}

void People::Retry(SweepId sweep, bool cancelled) {
  Ask(control::RetryTargets{{sweep}, true, cancelled, RequestId(), {}, {}},
      [](const auto&) {});
}

void People::Remove(SweepId sweep) {
  Ask(control::RemoveTargets{{sweep}, false, RequestId(), {}, {}},
      [](const auto&) {});
}

}  // namespace leadline::simulation
