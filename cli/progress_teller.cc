#include "cli/progress_teller.h"

#include "cli/progress_line.h"

namespace leadline::cli {
namespace {

constexpr std::chrono::seconds kBetweenLines{10};
constexpr std::chrono::seconds kLeastBetweenLines{1};

std::map<std::string, int64_t> Counts(const v1::Progress& progress) {
  return {progress.trials().begin(), progress.trials().end()};
}

}  // namespace

void ProgressTeller::Tell(const v1::Progress& progress, Time now) {
  for (const v1::TrialFailure& failure : progress.failures()) {
    // A stream that is opened again may tell of some again.
    const bool is_new = told_failures_.insert(failure.attempt()).second;
    if (is_new) output_.Note(FailureLine(failure, output_.err()));
  }
  last_ = progress;
  has_news_ = has_news_ || Counts(progress) != told_;
  Tick(now);
}

void ProgressTeller::Tick(Time now) {
  if (!last_.has_value()) return;
  if (output_.err().is_terminal && !lines_are_output_) {
    output_.Status(Line());
    return;
  }
  const auto wait = has_news_ ? kLeastBetweenLines : kBetweenLines;
  const bool too_soon = told_at_.has_value() && now - *told_at_ < wait;
  if (too_soon && !last_->ended()) return;
  if (lines_are_output_) {
    output_.Print(output_.out().Clean(ProgressLine(*last_)) + "\n");
    output_.Flush();
  } else {
    output_.Note(Line());
  }
  told_at_ = now;
  told_ = Counts(*last_);
  has_news_ = false;
}

std::string ProgressTeller::Line() const {
  return output_.err().Clean(ProgressLine(*last_));
}

}  // namespace leadline::cli
