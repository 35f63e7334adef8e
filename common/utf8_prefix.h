// Cutting text without cutting a character.

#pragma once

#include <cstddef>
#include <string_view>

namespace leadline {

/// The longest prefix of at most `bytes` bytes that ends between two
/// characters of UTF-8.
inline std::string_view Utf8Prefix(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 &&
         (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) {
    --bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace leadline
