// Numbers as bytes, the lowest first, whatever the machine.

#pragma once

#include <cstddef>
#include <cstdint>

namespace leadline::collective {

/// Writes `size` bytes.
inline void PutNumber(std::byte* to, uint64_t number, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    to[i] = static_cast<std::byte>(number >> (8 * i));
  }
}

inline uint64_t GetNumber(const std::byte* from, size_t size) {
  uint64_t number = 0;
  for (size_t i = 0; i < size; ++i) {
    number |= static_cast<uint64_t>(from[i]) << (8 * i);
  }
  return number;
}

}  // namespace leadline::collective
