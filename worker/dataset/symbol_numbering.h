// Gives the characters of a text their numbers.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace leadline::dataset {

/// Numbers in order of first appearance while the text is read; final numbers
/// once its training split is known. Keeps two bytes a character.
class SymbolNumbering {
 public:
  SymbolNumbering();

  /// Throws DataError at the 65,536th different character.
  void Add(std::span<const char32_t> code_points);

  int64_t size() const { return static_cast<int64_t>(symbols_.size()); }

  /// UTF-8 bytes of characters [begin, begin + count). Before Finish.
  int64_t CountUtf8Bytes(int64_t begin, int64_t count) const;

  struct Numbered {
    std::vector<uint16_t> symbols;
    std::vector<char32_t> alphabet;  // of the first `train` characters, sorted
    bool has_unknown = false;
  };

  /// Ends the numbering. Call once, last.
  Numbered Finish(int64_t train);

 private:
  std::vector<uint16_t> symbols_;     // provisional
  std::vector<char32_t> characters_;  // of the provisional numbers
  std::vector<uint16_t> numbers_;     // by code point; kNone where unseen
};

}  // namespace leadline::dataset
