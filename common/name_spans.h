// Lists of names that have much in common, written small: as spans of one table
// of all names.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace leadline {

struct NameSpans {
  std::vector<std::string> names;  // distinct, in order of appearance
  /// A list each: begin and end (exclusive) of a span of `names`, begin and end
  /// of the next, ....
  std::vector<std::vector<int64_t>> lists;
};

NameSpans ToSpans(std::span<const std::vector<std::string>> lists);

/// One list of `count` names; null if the spans do not fit the table or give
/// another number of names.
std::optional<std::vector<std::string>> FromSpans(
    std::span<const std::string> names, std::span<const int64_t> list,
    size_t count);

}  // namespace leadline
