#include "sim_gang.h"

#include <algorithm>

#include "sim_trainer.h"

namespace leadline::simulation {

bool SimGang::IsComplete() const {
  return std::ssize(ranks_) == size_ &&
         std::ranges::all_of(ranks_, [](const auto& entry) {
           const auto process = entry.second.lock();
           return process && !process->IsGone() && process->has_joined();
         });
}

bool SimGang::HasLost() const {
  return std::ranges::any_of(ranks_, [](const auto& entry) {
    const auto process = entry.second.lock();
    return !process || process->IsGone();
  });
}

std::optional<SteadyTime> SimGang::StalledSince() const {
  std::optional<SteadyTime> first;
  for (const auto& [rank, pointer] : ranks_) {
    const auto process = pointer.lock();
    if (!process || !process->stalled_since()) continue;
    first =
        std::min(first.value_or(SteadyTime::max()), *process->stalled_since());
  }
  return first;
}

bool SimGang::EndOthers(int64_t rank) const {
  bool all = true;
  for (const auto& [other, pointer] : ranks_) {
    const auto process = pointer.lock();
    if (other == rank) continue;
    all = process && process->EndWell() && all;
  }
  return all;
}

}  // namespace leadline::simulation
