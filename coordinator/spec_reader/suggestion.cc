#include "coordinator/spec_reader/suggestion.h"

#include "common/nearest_name.h"

namespace leadline::spec_reader {

std::string DidYouMean(std::string_view typed,
                       const std::vector<std::string_view>& names) {
  const std::string_view nearest = NearestName(typed, names);
  return nearest.empty() ? "" : ", did you mean " + std::string(nearest) + "?";
}

}  // namespace leadline::spec_reader
