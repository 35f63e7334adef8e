#include "coordinator/spec_reader/text_check.h"

#include <cstdint>

#include "coordinator/spec_reader/spec_reader.h"

namespace leadline::spec_reader {
namespace {

/// Length of the code point that `text` starts with; 0 if it is none.
size_t CodePointLength(std::string_view text) {
  const auto byte = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  uint32_t code = first & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool too_long = (length == 3 && code < 0x800) ||
                        (length == 4 && (code < 0x10000 || code > 0x10ffff));
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return too_long || surrogate ? 0 : length;
}

bool IsForbidden(unsigned char c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
}

}  // namespace

std::optional<sweep::Problem> CheckText(std::string_view text) {
  if (text.size() > kMostBytes) {
    return sweep::Problem{{1, 1},
                          "the file has " + std::to_string(text.size()) +
                              " bytes, expected at most " +
                              std::to_string(kMostBytes)};
  }
  sweep::Position at{1, 1};
  while (!text.empty()) {
    const size_t length = CodePointLength(text);
    if (length == 0) return sweep::Problem{at, "the text is not UTF-8"};
    if (IsForbidden(static_cast<unsigned char>(text.front()))) {
      return sweep::Problem{at, "found a control character"};
    }
    ++at.column;
    if (text.front() == '\n') at = {at.line + 1, 1};
    text.remove_prefix(length);
  }
  return {};
}

}  // namespace leadline::spec_reader
