// How far the same computation gives the same numbers, as measured.

#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace leadline {

/// Of a step of training that was computed again on the machine that trained.
enum class Determinism {
  kUnknown,          // not measured
  kBitExact,         // the same bits
  kWithinTolerance,  // the same but for rounding in another order
  kDiffers,          // something else: a stream that no seed rules, a fault
};

inline constexpr std::array kDeterminisms = {
    Determinism::kUnknown, Determinism::kBitExact,
    Determinism::kWithinTolerance, Determinism::kDiffers};

/// The words used in SQL, JSON and events: "bit_exact".
std::string_view Name(Determinism determinism);

/// Null unless `name` is one of the words above.
std::optional<Determinism> ParseDeterminism(std::string_view name);

}  // namespace leadline
