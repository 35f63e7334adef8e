#include "cli/progress_line.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/numbers.h"
#include "common/experiment.h"
#include "common/human_number.h"

namespace leadline::cli {
namespace {

void AddIfAny(std::string* line, int64_t count, const char* word) {
  if (count > 0) *line += fmt::format(", {} {}", Grouped(count), word);
}

}  // namespace

int64_t CountOf(const v1::Progress& progress, const std::string& state) {
  const auto found = progress.trials().find(state);
  return found == progress.trials().end() ? 0 : found->second;
}

std::string ProgressLine(const v1::Progress& progress) {
  const auto count = [&](TrialState state) {
    return CountOf(progress, std::string(Name(state)));
  };
  const int64_t diverged = count(TrialState::kDiverged);
  const int64_t running =
      count(TrialState::kRunning) + count(TrialState::kLeased);
  std::string line =
      fmt::format("{}: {}/{} done, {} running, {} queued", progress.sweep(),
                  Grouped(count(TrialState::kSucceeded) + diverged),
                  Grouped(progress.planned()), Grouped(running),
                  Grouped(count(TrialState::kQueued)));
  AddIfAny(&line, diverged, "diverged");
  AddIfAny(&line, count(TrialState::kFailed), "failed");
  AddIfAny(&line, count(TrialState::kCancelled), "cancelled");
  AddIfAny(&line, count(TrialState::kUnreachable), "unreachable");
  AddIfAny(&line, count(TrialState::kSuspended), "suspended");
  line += fmt::format(", {:.0f} %",
                      100 * std::clamp(progress.fraction_done(), 0.0, 1.0));
  if (progress.tokens_per_second() > 0) {
    line +=
        fmt::format(", {} tokens/s", HumanCount(progress.tokens_per_second()));
  }
  if (progress.has_seconds_left() && !progress.ended()) {
    line += fmt::format(", {} left", HumanDuration(progress.seconds_left()));
  }
  if (!progress.waiting_for().empty()) {
    line += ", waiting: " + progress.waiting_for();
  }
  return line;
}

std::string FailureLine(const v1::TrialFailure& failure, const Style& style) {
  return fmt::format(
      "{} {} ({}), {}: {}; leadline logs {} shows its log",
      failure.is_final() ? "failed:" : "failed, will be tried again:",
      style.Clean(failure.trial()), style.Clean(failure.attempt()),
      style.Clean(failure.kind()), style.Clean(failure.message()),
      style.Clean(failure.trial()));
}

Json ProgressJson(const v1::Progress& progress) {
  Json trials = Json::object();
  for (const TrialState state : kTrialStates) {
    const std::string name(Name(state));
    trials[name] = CountOf(progress, name);
  }
  return {{"sweep", progress.sweep()},
          {"name", progress.name()},
          {"state", progress.state()},
          {"planned", progress.planned()},
          {"trials", trials},
          {"fraction_done", JsonNumber(progress.fraction_done())},
          {"tokens_per_second", JsonNumber(progress.tokens_per_second())},
          {"seconds_left",
           JsonOptional(progress.has_seconds_left(), progress.seconds_left())},
          {"ended", progress.ended()},
          {"waiting_for", progress.waiting_for()}};
}

}  // namespace leadline::cli
