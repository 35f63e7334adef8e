// What someone who mistyped a name may have meant.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace leadline::spec_reader {

/// ", did you mean depth?" for the nearest of the names, or nothing if none is
/// near.
std::string DidYouMean(std::string_view typed,
                       const std::vector<std::string_view>& names);

}  // namespace leadline::spec_reader
