#include "coordinator/spec_reader/suggestion.h"

#include <algorithm>

namespace leadline::spec_reader {
namespace {

/// Insertions, deletions, replacements and swaps of neighbours between two
/// short texts.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last = std::move(last);
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string DidYouMean(std::string_view typed,
                       const std::vector<std::string_view>& names) {
  constexpr size_t kLongestName = 40;
  if (typed.size() > kLongestName) return "";
  size_t nearest = std::min<size_t>(3, typed.size() / 3 + 2);
  std::string_view best;
  for (const std::string_view name : names) {
    const size_t distance = Distance(typed, name);
    if (distance >= nearest) continue;
    nearest = distance;
    best = name;
  }
  return best.empty() ? "" : ", did you mean " + std::string(best) + "?";
}

}  // namespace leadline::spec_reader
