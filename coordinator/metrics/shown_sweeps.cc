#include "coordinator/metrics/shown_sweeps.h"

#include <algorithm>
#include <iterator>

#include "coordinator/metrics/bounds.h"

namespace leadline::metrics {
namespace {

bool IsOver(SweepState state) {
  return state == SweepState::kComplete || state == SweepState::kCancelled;
}

}  // namespace

void ShownSweeps::Take(const control::Overview& overview) {
  for (auto& [id, shown] : sweeps_) {
    const bool is_known = std::ranges::binary_search(overview.sweeps, id, {},
                                                     &control::SweepCounts::id);
    if (!is_known && !shown.ended_at) shown.ended_at = overview.at;
  }
  for (const control::SweepCounts& counts : overview.sweeps) {
    Shown& shown = sweeps_[counts.id];
    shown.counts = counts;
    if (!IsOver(counts.state)) {
      shown.ended_at.reset();
    } else if (!shown.ended_at) {
      shown.ended_at = overview.at;
    }
  }
}

std::vector<control::SweepCounts> ShownSweeps::List(control::SteadyTime now) {
  std::erase_if(sweeps_, [now](const auto& entry) {
    const auto& ended_at = entry.second.ended_at;
    return ended_at && now - *ended_at >= kAfterTheEnd;
  });
  left_out_ = std::max<int64_t>(
      0, std::ssize(sweeps_) - static_cast<int64_t>(kMostSweeps));
  std::vector<control::SweepCounts> list;
  auto first = sweeps_.begin();
  std::advance(first, left_out_);
  for (; first != sweeps_.end(); ++first) list.push_back(first->second.counts);
  return list;
}

}  // namespace leadline::metrics
