// Cuts a file of stories into two halves by story order.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace leadline::dataset {

/// Counts stories, each ended by the line `<|endoftext|>`, which belongs to it;
/// text after the last such line is one more. Takes the text in pieces.
class StoryHalves {
 public:
  void Add(std::span<const char32_t> piece);

  /// Characters of the first half of the stories (of 2k+1: k).
  int64_t FirstHalf() const;

 private:
  int64_t position_ = 0;
  size_t matched_ = 0;         // of the separator line
  std::vector<int64_t> ends_;  // one past each story's separator line
};

}  // namespace leadline::dataset
