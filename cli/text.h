// Text from outside on a terminal: escaped, measured and cut by what a reader
// sees.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leadline::cli {

enum class Charset { kAscii, kUtf8 };

/// `text` made safe for one line: control characters, line ends, direction
/// marks, unassigned code points and broken UTF-8 are written as escapes
/// ("\n", "\x1b", "\u{202e}"), and so is all beyond ASCII if `charset` is
/// ASCII.
std::string Printable(std::string_view text, Charset charset);

/// As Printable, but lines and tabs stay: for logs and messages of many lines.
std::string PrintableLines(std::string_view text, Charset charset);

/// Columns a terminal takes for printable text: 2 for an ideograph or emoji, 0
/// for a combining mark. Colour sequences of our own count nothing.
size_t DisplayWidth(std::string_view text);

/// Text at most `width` columns wide, cut between characters as a reader sees
/// them, its end marked with an ellipsis.
std::string Shorten(std::string_view text, size_t width, Charset charset);

/// Text filled with blanks to `width` columns.
std::string PadRight(std::string_view text, size_t width);
std::string PadLeft(std::string_view text, size_t width);

/// True if `text` is UTF-8; else `bad_byte` is the place of the first byte that
/// is not.
bool IsUtf8(std::string_view text, size_t* bad_byte);

}  // namespace leadline::cli
