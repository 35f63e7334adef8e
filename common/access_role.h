// What a token allows.

#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace leadline {

/// Each of the first three may do what those before it may. Agents may open
/// their session and nothing else, and nobody else may.
enum class AccessRole { kRead, kSubmit, kAdmin, kAgent };

inline constexpr std::array<AccessRole, 4> kAccessRoles = {
    AccessRole::kRead, AccessRole::kSubmit, AccessRole::kAdmin,
    AccessRole::kAgent};

/// "read", "submit", "admin", "agent".
std::string_view Name(AccessRole role);

/// Null for other words.
std::optional<AccessRole> ParseAccessRole(std::string_view word);

/// True if who has role `has` may do what is for `needed`.
bool Allows(AccessRole has, AccessRole needed);

}  // namespace leadline
