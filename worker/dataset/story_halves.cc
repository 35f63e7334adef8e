#include "worker/dataset/story_halves.h"

namespace leadline::dataset {
namespace {

constexpr std::string_view kSeparator = "<|endoftext|>\n";

}  // namespace

void StoryHalves::Add(std::span<const char32_t> piece) {
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

int64_t StoryHalves::FirstHalf() const {
  const bool more = ends_.empty() || ends_.back() < position_;
  const size_t stories = ends_.size() + (more ? 1 : 0);
  return stories < 2 ? 0 : ends_[stories / 2 - 1];
}

}  // namespace leadline::dataset
