// Strict UTF-8, bytes in, code points out.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace leadline::dataset {

/// Decodes a text that comes in pieces, which may end inside a character.
/// Owned by one thread.
class Utf8Decoder {
 public:
  /// Appends the code points completed by `bytes`. Throws DataError with the
  /// offset in the whole text at the first byte that cannot stand there
  /// (overlong forms, surrogates and values above U+10FFFF among them).
  void Add(std::string_view bytes, std::vector<char32_t>& code_points);

  /// Throws DataError if the text ended inside a character.
  void Finish() const;

 private:
  [[noreturn]] void Refuse() const;

  int64_t offset_ = 0;  // of the next byte
  int missing_ = 0;     // bytes to complete the character
  char32_t partial_ = 0;
  char32_t least_ = 0;  // shorter forms hold what is below
};

}  // namespace leadline::dataset
