// A text as symbol numbers, cut into its splits.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "model/spec/dataset_table.h"
#include "worker/dataset/split_rule.h"

namespace leadline::dataset {

/// Tokenised by characters: the code points of the training split in ascending
/// order, then one symbol `unknown` if another split has any other. By bytes:
/// the bytes, 256 symbols. Immutable once made, so threads may share it.
class SymbolText {
 public:
  /// `story_ends` are those of the whole text, as StoryEnds gives them.
  SymbolText(std::vector<uint16_t> symbols, const SplitSizes& sizes,
             std::vector<char32_t> alphabet, bool has_unknown,
             std::vector<int64_t> story_ends = {},
             double validation_bytes_per_character = 1);

  std::span<const uint16_t> train() const;
  std::span<const uint16_t> validation() const;
  std::span<const uint16_t> test() const;  // may be empty

  /// Number of symbols, `unknown` among them.
  int64_t vocabulary() const;

  /// Symbol i stands for alphabet()[i]; `unknown`, if there is one, comes after
  /// the last.
  const std::vector<char32_t>& alphabet() const { return alphabet_; }
  bool has_unknown() const { return has_unknown_; }

  /// True if some line `<|endoftext|>` parts the text into stories.
  bool has_stories() const { return !story_ends_.empty(); }

  /// One past the last symbol of each story of a split, ascending, the end of
  /// the split among them. Without stories a split is one.
  std::vector<int64_t> train_ends() const;
  std::vector<int64_t> validation_ends() const;
  std::vector<int64_t> test_ends() const;

  /// UTF-8 bytes over characters of validation; 1 where bytes are symbols.
  double validation_bytes_per_character() const {
    return validation_bytes_per_character_;
  }

  /// Throws DataError unless training and validation hold a window of `context`
  /// symbols and the one after it.
  void RequireWindow(int64_t context) const;

 private:
  std::span<const uint16_t> Part(int64_t begin, int64_t size) const;

  std::vector<uint16_t> symbols_;
  SplitSizes sizes_;
  std::vector<char32_t> alphabet_;
  bool has_unknown_;
  std::vector<int64_t> story_ends_;
  double validation_bytes_per_character_;
};

/// Reads the file of `dataset` (its `path`), checks its hash against
/// `content_hash`, and cuts it by its rule. Where the split is that of a
/// registered set with a file held out beside the first, that file's stories
/// give validation and test. Throws DataError.
SymbolText LoadText(const spec::Dataset& dataset);

}  // namespace leadline::dataset
