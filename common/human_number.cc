#include "common/human_number.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace leadline {
namespace {

std::string Fixed(double value, int decimals) {
  std::array<char, 400> text;  // the largest double has 309 digits
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string ThreeDigits(double value) {
  const double size = std::abs(value);
  return Fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

template <size_t N>
std::string Scaled(double value, double step,
                   const std::array<const char*, N>& units) {
  size_t unit = 0;
  // 999.5 would be written as 1000.
  while (unit + 1 < N && std::abs(value) >= step * 0.9995) {
    value /= step;
    ++unit;
  }
  if (unit == 0 && value == std::floor(value)) {
    return Fixed(value, 0) + units[0];
  }
  return ThreeDigits(value) + units[unit];
}

}  // namespace

std::string HumanCount(double value) {
  static constexpr std::array<const char*, 6> kUnits = {"",  "k", "M",
                                                        "B", "T", "P"};
  return Scaled(value, 1000, kUnits);
}

std::string HumanFlops(double flops) {
  static constexpr std::array<const char*, 9> kUnits = {
      " FLOP",  " kFLOP", " MFLOP", " GFLOP", " TFLOP",
      " PFLOP", " EFLOP", " ZFLOP", " YFLOP"};
  return Scaled(flops, 1000, kUnits);
}

std::string HumanBytes(int64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {" B",   " KiB", " MiB",
                                                        " GiB", " TiB", " PiB"};
  return Scaled(static_cast<double>(bytes), 1024, kUnits);
}

}  // namespace leadline
