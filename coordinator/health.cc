#include "coordinator/health.h"

namespace leadline {
namespace {

// A turn comes every quarter of a second; a commit on a busy disk may take
// some.
constexpr control::Seconds kReadyWithin{5};
constexpr control::Seconds kAliveWithin{60};

}  // namespace

void Health::OnTurn(control::SteadyTime now, const std::string& refusal) {
  const std::lock_guard lock(mutex_);
  turned_at_ = now;
  refusal_ = refusal;
}

std::string Health::WhyNotAlive(control::SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  return WhySilent(now, kAliveWithin);
}

std::string Health::WhyNotReady(control::SteadyTime now) const {
  const std::lock_guard lock(mutex_);
  if (!refusal_.empty()) return "nothing can be stored: " + refusal_;
  return WhySilent(now, kReadyWithin);
}

std::string Health::WhySilent(control::SteadyTime now,
                              control::Seconds most) const {
  if (turned_at_ == control::SteadyTime{}) return "";
  const control::Seconds silent = now - turned_at_;
  if (silent <= most) return "";
  return "nothing was decided for " +
         std::to_string(static_cast<int64_t>(silent.count())) + " s";
}

}  // namespace leadline
