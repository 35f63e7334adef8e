#include "worker/agent/careful_sending.h"

#include <algorithm>

namespace leadline::agent {
namespace {

constexpr int kMostRefusals = 3;

}  // namespace

std::optional<CarefulSending::Outstanding> CarefulSending::OnRefused(
    std::span<const Outstanding> outstanding) {
  for (const Outstanding& sent : outstanding) {
    int64_t& until = until_[sent.attempt];
    until = std::max(until, sent.last);
  }
  if (outstanding.size() != 1 ||
      outstanding.front().first != outstanding.front().last) {
    return std::nullopt;
  }
  const Outstanding& alone = outstanding.front();
  if (!suspect_ || suspect_->attempt != alone.attempt ||
      suspect_->first != alone.first) {
    suspect_ = alone;
    refusals_ = 0;
  }
  if (++refusals_ < kMostRefusals) return std::nullopt;
  suspect_.reset();
  return alone;
}

void CarefulSending::OnStored(const AttemptKey& attempt, int64_t sequence) {
  const auto found = until_.find(attempt);
  if (found != until_.end() && sequence >= found->second) until_.erase(found);
  if (suspect_ && suspect_->attempt == attempt && sequence >= suspect_->first) {
    suspect_.reset();
  }
}

}  // namespace leadline::agent
