// Text from anywhere, as people and tools may be shown it: bounded, on one
// line, and driving no terminal.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace leadline {

/// A line is read by people and by tools with limits of their own.
inline constexpr size_t kMostShownBytes = 4096;

struct Character {
  uint32_t code_point = 0;
  size_t bytes = 0;  // 0: the byte there begins no character of UTF-8
};

/// What stands at `place`, which is within the text.
Character CharacterAt(std::string_view text, size_t place);

/// True of controls, line and paragraph ends, and what changes the direction of
/// the text beside it or cannot be seen; not of the joiners that emoji and
/// several scripts are written with.
bool DrivesTheReader(uint32_t code_point);

/// "\n", "\x1b", "\u{202e}".
std::string Escaped(uint32_t code_point);

/// "\xff", of a byte that is part of no character.
std::string EscapedByte(char byte);

/// The first `kMostShownBytes` bytes of a longer text, between two characters,
/// and its length.
std::string Beginning(std::string_view text);

/// The text with what drives the reader escaped, and no more than the beginning
/// of a long one.
std::string HarmlessText(std::string_view text);

}  // namespace leadline
