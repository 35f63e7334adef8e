// Whether something could be made in a folder, asked without making it.

#pragma once

#include <filesystem>
#include <string>

namespace leadline {

/// Why nothing can be made in the folder, or where it would be made itself:
/// "/x/file is no folder", "/x: Permission denied". Empty if something can.
std::string WhyNotInto(std::filesystem::path folder);

}  // namespace leadline
