#include "storage/errand.h"

#include <algorithm>
#include <array>

namespace leadline::storage {
namespace {

constexpr std::array kKinds = {ErrandKind::kCancel, ErrandKind::kRetry,
                               ErrandKind::kStop};

}  // namespace

std::string_view Name(ErrandKind kind) {
  switch (kind) {
    case ErrandKind::kCancel:
      return "cancel";
    case ErrandKind::kRetry:
      return "retry";
    case ErrandKind::kStop:
      return "stop";
  }
  return "";
}

std::optional<ErrandKind> ParseErrandKind(std::string_view name) {
  const auto* const kind = std::ranges::find_if(
      kKinds, [&](ErrandKind one) { return Name(one) == name; });
  if (kind == kKinds.end()) return std::nullopt;
  return *kind;
}

}  // namespace leadline::storage
