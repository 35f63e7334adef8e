// Whose folder root would write into.

#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace leadline {

/// Why a process of the user must not make files there: root may, but the
/// folder's owner could not use what root makes. Empty for everybody else, and
/// where there is no such folder yet.
std::string WhyNotAsRoot(const std::filesystem::path& folder, uid_t user);

}  // namespace leadline
