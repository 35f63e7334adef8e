// Which of some names someone who mistyped one may have meant.

#pragma once

#include <string_view>
#include <vector>

namespace leadline {

/// The nearest of the names, empty if none is near: insertions, deletions,
/// replacements and swaps of neighbours are counted, one for short names and
/// two for longer ones may be wrong.
std::string_view NearestName(std::string_view typed,
                             const std::vector<std::string_view>& names);

}  // namespace leadline
