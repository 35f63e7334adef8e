// Windows that stay inside one story of a text.

#pragma once

#include <cstdint>
#include <vector>

namespace leadline::trainer {

/// The stories of one split. Immutable once made, so threads may share it.
class Documents {
 public:
  /// `ends` as SymbolText gives them: one past the last symbol of each story,
  /// the last of them the size of the split.
  explicit Documents(std::vector<int64_t> ends);

  int64_t size() const { return ends_.back(); }
  const std::vector<int64_t>& ends() const { return ends_; }

  /// One past the last symbol of the story that holds symbol `at`.
  int64_t EndOf(int64_t at) const;

  /// How many windows of `context` symbols, and one more, begin on a symbol
  /// with a successor in its own story.
  int64_t CountStarts(int64_t context) const;

  /// Number `index` of those starts, ascending.
  int64_t Start(int64_t index) const;

  /// How many symbols of a window at `start` have a successor in its story:
  /// 1 to `context`. What comes after is not scored.
  int64_t Scored(int64_t start, int64_t context) const;

 private:
  std::vector<int64_t> ends_;
};

}  // namespace leadline::trainer
