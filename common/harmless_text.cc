#include "common/harmless_text.h"

#include <algorithm>
#include <cstdio>

#include "common/utf8_prefix.h"

namespace leadline {
namespace {

std::string Formatted(const char* pattern, unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

}  // namespace

Character CharacterAt(std::string_view text, size_t place) {
  const auto first = static_cast<unsigned char>(text[place]);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || place + bytes > text.size()) return {};
  uint32_t value = first & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[place + i]);
    if ((next & 0xC0U) != 0x80) return {};
    value = value << 6U | (next & 0x3FU);
  }
  const bool is_overlong =
      (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (is_overlong || is_surrogate || value > 0x10FFFF) return {};
  return {value, bytes};
}

bool DrivesTheReader(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x061C ||
         c == 0x200B || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
         c == 0xFEFF || (c >= 0xE0000 && c <= 0xE0FFF);
}

std::string Escaped(uint32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return Formatted(c < 0x80 ? "\\x%02x" : "\\u{%x}", c);
  }
}

std::string EscapedByte(char byte) {
  return Formatted("\\x%02x", static_cast<unsigned char>(byte));
}

std::string Beginning(std::string_view text) {
  if (text.size() <= kMostShownBytes) return std::string(text);
  // Bytes that are no UTF-8 have no place to cut: any will do.
  std::string_view kept = Utf8Prefix(text, kMostShownBytes);
  if (kept.size() + 4 < kMostShownBytes) kept = text.substr(0, kMostShownBytes);
  return std::string(kept) + "... (" + std::to_string(text.size()) + " bytes)";
}

std::string HarmlessText(std::string_view text) {
  const std::string beginning = Beginning(text);
  std::string out;
  for (size_t i = 0; i < beginning.size();) {
    const Character c = CharacterAt(beginning, i);
    if (c.bytes == 0) {
      out += EscapedByte(beginning[i]);
    } else if (DrivesTheReader(c.code_point)) {
      out += Escaped(c.code_point);
    } else {
      out.append(beginning, i, c.bytes);
    }
    i += std::max<size_t>(c.bytes, 1);
  }
  return out;
}

}  // namespace leadline
