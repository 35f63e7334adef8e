// The numbers that ranks exchange, and how they are added.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace leadline::collective {

/// On the wire: never renumber.
enum class Element : uint8_t { kByte = 0, kFloat32, kFloat64, kInt64 };

inline constexpr uint8_t kElements = 4;

size_t SizeOf(Element element);

/// "float32", ...
const char* NameOf(Element element);

/// sums[i] = others[i] + sums[i], whole elements of `element`; bytes are not
/// added. Integers wrap.
void AddTo(std::span<std::byte> sums, std::span<const std::byte> others,
           Element element);

}  // namespace leadline::collective
