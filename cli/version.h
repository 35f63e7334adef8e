// Which Leadline this is.

#pragma once

#include <string_view>

namespace leadline::cli {

inline constexpr std::string_view kVersion = LEADLINE_VERSION;

}  // namespace leadline::cli
