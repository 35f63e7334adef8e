#include "worker/dataset/story_ends.h"

#include <algorithm>
#include <string_view>

namespace leadline::dataset {
namespace {

constexpr std::string_view kSeparator = "<|endoftext|>\n";

}  // namespace

void StoryEnds::Add(std::span<const char32_t> piece) {
  for (const char32_t character : piece) {
    ++position_;
    // '<' stands only at the separator's start, so a mismatch begins anew there
    // or nowhere.
    const auto is = [&](size_t at) {
      return character == static_cast<unsigned char>(kSeparator[at]);
    };
    matched_ = is(matched_) ? matched_ + 1 : (is(0) ? 1 : 0);
    if (matched_ == kSeparator.size()) {
      ends_.push_back(position_);
      matched_ = 0;
    }
  }
}

int64_t FirstHalf(std::span<const int64_t> ends, int64_t size) {
  const bool more = ends.empty() || ends.back() < size;
  const size_t stories = ends.size() + (more ? 1 : 0);
  return stories < 2 ? 0 : ends[stories / 2 - 1];
}

std::vector<int64_t> EndsWithin(std::span<const int64_t> ends, int64_t begin,
                                int64_t size) {
  std::vector<int64_t> within;
  for (auto end = std::upper_bound(ends.begin(), ends.end(), begin);
       end != ends.end() && *end <= begin + size; ++end) {
    within.push_back(*end - begin);
  }
  if (size > 0 && (within.empty() || within.back() < size)) {
    within.push_back(size);
  }
  return within;
}

}  // namespace leadline::dataset
