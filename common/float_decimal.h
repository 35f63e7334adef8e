// Single precision numbers as people write them.

#pragma once

#include <array>
#include <charconv>
#include <cmath>

namespace leadline {

/// The double that the shortest decimal of `value` reads as: 0.1 for the float
/// next to 0.1. Its nearest float is `value` again. Non-finite ones as they
/// are.
inline double DecimalOf(float value) {
  if (!std::isfinite(value)) return value;
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double number = 0;
  std::from_chars(text.data(), end, number);
  return number;
}

}  // namespace leadline
