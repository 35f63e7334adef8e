#include "common/determinism.h"

namespace leadline {

std::string_view Name(Determinism determinism) {
  switch (determinism) {
    case Determinism::kUnknown:
      return "unknown";
    case Determinism::kBitExact:
      return "bit_exact";
    case Determinism::kWithinTolerance:
      return "within_tolerance";
    case Determinism::kDiffers:
      return "differs";
  }
  return {};
}

std::optional<Determinism> ParseDeterminism(std::string_view name) {
  for (const Determinism determinism : kDeterminisms) {
    if (Name(determinism) == name) return determinism;
  }
  return std::nullopt;
}

}  // namespace leadline
