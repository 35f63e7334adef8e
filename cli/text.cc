#include "cli/text.h"

#include <algorithm>
#include <cstdint>

#include <utf8proc.h>

#include "common/harmless_text.h"

namespace leadline::cli {
namespace {

struct Character {
  int32_t code_point = -1;  // -1: not UTF-8
  size_t bytes = 1;
};

Character At(std::string_view text, size_t place) {
  utf8proc_int32_t code_point = -1;
  const auto bytes = utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + place,
      static_cast<utf8proc_ssize_t>(text.size() - place), &code_point);
  if (bytes <= 0) return {};
  return {code_point, static_cast<size_t>(bytes)};
}

// Joiners stay, because emoji and several scripts are written with them; other
// format characters can reorder or hide what stands beside them.
bool IsHarmless(int32_t code_point) {
  if (code_point == 0x200c || code_point == 0x200d) return true;
  switch (utf8proc_category(code_point)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

std::string Clean(std::string_view text, Charset charset, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Character c = At(text, i);
    if (c.code_point < 0) {
      out += EscapedByte(text[i]);
    } else if (keep_lines && (c.code_point == '\n' || c.code_point == '\t')) {
      out += static_cast<char>(c.code_point);
    } else if (!IsHarmless(c.code_point) ||
               (charset == Charset::kAscii && c.code_point >= 0x80)) {
      out += Escaped(static_cast<uint32_t>(c.code_point));
    } else {
      out += text.substr(i, c.bytes);
    }
    i += c.bytes;
  }
  return out;
}

// The length in bytes of the character a reader sees at `place`, and its
// columns.
struct Cluster {
  size_t bytes = 0;
  size_t columns = 0;
};

Cluster ClusterAt(std::string_view text, size_t place) {
  Cluster cluster;
  utf8proc_int32_t state = 0;
  int32_t previous = -1;
  while (place + cluster.bytes < text.size()) {
    const Character c = At(text, place + cluster.bytes);
    if (previous >= 0 &&
        (c.code_point < 0 ||
         utf8proc_grapheme_break_stateful(previous, c.code_point, &state))) {
      break;
    }
    cluster.bytes += c.bytes;
    if (c.code_point < 0) return {cluster.bytes, 1};
    const int columns = utf8proc_charwidth(c.code_point);
    cluster.columns = std::max<size_t>(cluster.columns, std::max(columns, 0));
    // The emoji form of a character that is narrow by itself.
    if (c.code_point == 0xfe0f) cluster.columns = 2;
    previous = c.code_point;
  }
  return cluster;
}

// Length of one of our own colour sequences at `place`, 0 if there is none.
size_t ColourSequence(std::string_view text, size_t place) {
  if (text.substr(place, 2) != "\x1b[") return 0;
  const size_t end = text.find('m', place);
  return end == std::string_view::npos ? 0 : end - place + 1;
}

}  // namespace

std::string Printable(std::string_view text, Charset charset) {
  return Clean(text, charset, false);
}

std::string PrintableLines(std::string_view text, Charset charset) {
  return Clean(text, charset, true);
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    if (const size_t skip = ColourSequence(text, i); skip > 0) {
      i += skip;
      continue;
    }
    const Cluster cluster = ClusterAt(text, i);
    width += cluster.columns;
    i += cluster.bytes;
  }
  return width;
}

std::string Shorten(std::string_view text, size_t width, Charset charset) {
  if (DisplayWidth(text) <= width) return std::string(text);
  const std::string_view mark = charset == Charset::kUtf8 ? "…" : "...";
  const size_t mark_width = charset == Charset::kUtf8 ? 1 : 3;
  if (width < mark_width) return std::string(width, '.');
  size_t used = 0;
  size_t i = 0;
  while (i < text.size()) {
    const Cluster cluster = ClusterAt(text, i);
    if (used + cluster.columns + mark_width > width) break;
    used += cluster.columns;
    i += cluster.bytes;
  }
  return std::string(text.substr(0, i)) + std::string(mark);
}

std::string PadRight(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string PadLeft(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

bool IsUtf8(std::string_view text, size_t* bad_byte) {
  for (size_t i = 0; i < text.size();) {
    const Character c = At(text, i);
    if (c.code_point < 0) {
      *bad_byte = i;
      return false;
    }
    i += c.bytes;
  }
  return true;
}

}  // namespace leadline::cli
