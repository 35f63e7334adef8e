#include "common/nearest_name.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace leadline {
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

/// Of a text of that many characters so few may be wrong, or any name would be
/// near: "foo" is no "rho".
size_t MostWrong(size_t size) { return std::min<size_t>(2, (size + 1) / 3); }

/// Empty if none is near.
std::string_view NearestName(std::string_view typed,
                             const std::vector<std::string_view>& names) {
  constexpr size_t kLongestName = 40;
  std::string_view best;
  if (typed.size() > kLongestName) return best;
  size_t nearest = kLongestName;
  for (const std::string_view name : names) {
    const size_t distance = Distance(typed, name);
    const size_t most = MostWrong(std::max(typed.size(), name.size()));
    if (distance > most || distance >= nearest) continue;
    nearest = distance;
    best = name;
  }
  return best;
}

}  // namespace

std::string DidYouMean(std::string_view typed,
                       const std::vector<std::string_view>& names,
                       std::string_view mark) {
  const std::string_view nearest = NearestName(typed, names);
  if (nearest.empty()) return "";
  return ", did you mean " + std::string(mark) + std::string(nearest) + "?";
}

}  // namespace leadline
