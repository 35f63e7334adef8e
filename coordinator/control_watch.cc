#include "coordinator/control_watch.h"

#include <utility>

namespace leadline {

using metrics::PointFate;

void ControlWatch::OnTurn(control::Moment now, control::Seconds took,
                          const std::string& refusal) {
  health_.OnTurn(now.steady, refusal);
  counters_.ObserveTurn(took.count());
}

void ControlWatch::OnTally(const control::Tally& tally) {
  counters_.CountPoints(PointFate::kLate, tally.late_points);
  counters_.CountPoints(PointFate::kDropped, tally.dropped_points);
  counters_.CountPoints(PointFate::kRepeated, tally.repeated_points);
  for (const auto& [node, tokens] : tally.tokens) {
    counters_.CountTokens(node, tokens);
  }
}

void ControlWatch::OnOverview(control::Overview overview) {
  exposition_.Take(std::move(overview));
}

}  // namespace leadline
