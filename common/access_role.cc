#include "common/access_role.h"

#include <algorithm>

namespace leadline {

std::string_view Name(AccessRole role) {
  constexpr std::array<std::string_view, 4> kNames = {"read", "submit", "admin",
                                                      "agent"};
  return kNames[static_cast<size_t>(role)];
}

std::optional<AccessRole> ParseAccessRole(std::string_view word) {
  const auto* found =
      std::find_if(kAccessRoles.begin(), kAccessRoles.end(),
                   [&](AccessRole role) { return Name(role) == word; });
  if (found == kAccessRoles.end()) return std::nullopt;
  return *found;
}

bool Allows(AccessRole has, AccessRole needed) {
  if (has == AccessRole::kAgent || needed == AccessRole::kAgent) {
    return has == needed;
  }
  return has >= needed;
}

}  // namespace leadline
