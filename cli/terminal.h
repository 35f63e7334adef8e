// What the two output channels can show, found out once at the start.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/text.h"

namespace leadline::cli {

/// One output channel.
struct Style {
  Charset charset = Charset::kAscii;
  bool is_terminal = false;   // a person may be reading, lines may be redrawn
  bool colours = false;       // bold and the sixteen colours
  bool many_colours = false;  // the 256-colour palette
  size_t width = 80;          // columns; for files, as many as it takes

  bool utf8() const { return charset == Charset::kUtf8; }
  /// "±", or "+/-" in ASCII.
  std::string_view plus_minus() const;
  /// "—", or "-" in ASCII: nothing to show here.
  std::string_view nothing() const;
  /// Escaped for one line in this channel's character set.
  std::string Clean(std::string_view text) const;
  std::string Bold(std::string_view text) const;
  std::string Dim(std::string_view text) const;
};

/// The style of a file descriptor, by isatty, LC_CTYPE (call setlocale before),
/// NO_COLOR, TERM, COLORTERM and the window's size.
Style StyleOf(int descriptor);

}  // namespace leadline::cli
