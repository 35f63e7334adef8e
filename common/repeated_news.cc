#include "worker/agent/repeated_news.h"

#include <algorithm>

namespace leadline::agent {
namespace {

constexpr std::chrono::minutes kFirstWait{1};
constexpr std::chrono::minutes kLongestWait{60};
constexpr size_t kMost = 32;  // a text may hold what changes every time

}  // namespace

bool RepeatedNews::IsDue(const std::string& news, SteadyTime now) {
  const auto known = told_.find(news);
  if (known == told_.end()) {
    if (told_.size() >= kMost) told_.clear();
    told_[news] = {now + kFirstWait, kFirstWait};
    return true;
  }
  Told& told = known->second;
  if (now < told.again) return false;
  told.wait = std::min(kLongestWait, 2 * told.wait);
  told.again = now + told.wait;
  return true;
}

}  // namespace leadline::agent
