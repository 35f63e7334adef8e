#include "common/name_spans.h"

#include <map>

namespace leadline {

NameSpans ToSpans(std::span<const std::vector<std::string>> lists) {
  NameSpans spans;
  std::map<std::string, int64_t> places;
  for (const std::vector<std::string>& list : lists) {
    std::vector<int64_t>& ends = spans.lists.emplace_back();
    for (const std::string& name : list) {
      const auto [place, is_new] =
          places.emplace(name, static_cast<int64_t>(spans.names.size()));
      if (is_new) spans.names.push_back(name);
      if (ends.empty() || ends.back() != place->second) {
        ends.insert(ends.end(), {place->second, place->second});
      }
      ++ends.back();
    }
  }
  return spans;
}

std::optional<std::vector<std::string>> FromSpans(
    std::span<const std::string> names, std::span<const int64_t> list,
    size_t count) {
  std::vector<std::string> result;
  if (list.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < list.size(); i += 2) {
    const int64_t begin = list[i];
    const int64_t end = list[i + 1];
    if (begin < 0 || end <= begin || end > static_cast<int64_t>(names.size()) ||
        static_cast<size_t>(end - begin) > count - result.size()) {
      return std::nullopt;
    }
    result.insert(result.end(), names.begin() + begin, names.begin() + end);
  }
  if (result.size() != count) return std::nullopt;
  return result;
}

}  // namespace leadline
