// Where the stories of a text end.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace leadline::dataset {

/// Finds the ends of stories: each ends with the line `<|endoftext|>`, which
/// belongs to it. Takes the text in pieces, as characters or bytes.
class StoryEnds {
 public:
  void Add(std::span<const char32_t> piece);

  /// One past each story's separator line, ascending. Text after the last is
  /// one more story, without a separator.
  const std::vector<int64_t>& ends() const { return ends_; }

  /// Characters read.
  int64_t size() const { return position_; }

 private:
  int64_t position_ = 0;
  size_t matched_ = 0;  // of the separator line
  std::vector<int64_t> ends_;
};

/// Of a text of `size` characters with these ends: the characters of the first
/// half of its stories (of 2k+1: k).
int64_t FirstHalf(std::span<const int64_t> ends, int64_t size);

/// The ends of the stories of characters [begin, begin + size), counted from
/// `begin`, with the end of the part itself if a story goes on beyond it.
std::vector<int64_t> EndsWithin(std::span<const int64_t> ends, int64_t begin,
                                int64_t size);

}  // namespace leadline::dataset
