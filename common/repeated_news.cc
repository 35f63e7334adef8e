#include "common/repeated_news.h"

#include <algorithm>

namespace leadline {
namespace {

constexpr std::chrono::minutes kFirstWait{1};
constexpr std::chrono::minutes kLongestWait{60};
constexpr size_t kMost = 32;    // a text may hold what changes every time
constexpr size_t kKept = 1024;  // of one

}  // namespace

bool RepeatedNews::IsDue(std::string_view text, SteadyTime now) {
  const std::string news(text.substr(0, kKept));
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

}  // namespace leadline
