// Which of some names someone who mistyped one may have meant.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leadline {

/// ", did you mean --depth?" for the nearest of the names, with `mark` (here
/// "--") before it; empty if none is near: insertions, deletions, replacements
/// and swaps of neighbours are counted, one for short names and two for longer
/// ones may be wrong.
std::string DidYouMean(std::string_view typed,
                       const std::vector<std::string_view>& names,
                       std::string_view mark = "");

}  // namespace leadline
