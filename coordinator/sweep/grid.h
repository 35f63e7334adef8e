// The grid that a sweep's axes span, and the boxes that its rules cut out.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/sweep/sweep.h"

namespace leadline::sweep {

/// An index for every dimension of a grid.
using Point = std::vector<int64_t>;

/// Points whose index belongs in every dimension.
struct Box {
  /// By dimension and index; an empty dimension takes every index.
  std::vector<std::vector<bool>> belongs;
  bool is_empty = false;  // whatever `belongs` says
};

/// Axes that advance together, of one length: a zip group, or an axis alone.
struct Dimension {
  std::vector<size_t> axes;  // indices into Sweep::axes
  int64_t size = 0;
};

/// In the order of the listing, the first one slowest; a zip group stands where
/// its first axis stands. The sweep has passed CheckSweep.
std::vector<Dimension> Dimensions(const Sweep& sweep);

/// Number of points; null above 10^15.
std::optional<int64_t> CountPoints(const std::vector<Dimension>& dimensions);

/// The points of the grid that a rule matches.
Box BoxOf(const Sweep& sweep, const std::vector<Dimension>& dimensions,
          const Rule& rule);

/// Number of points in a box.
int64_t CountPoints(const std::vector<Dimension>& dimensions, const Box& box);

/// True if an axis value is what a rule names: the same value or data; of a
/// method, the name and the options that the rule gives.
bool Matches(const Choice& pattern, const Choice& value);

}  // namespace leadline::sweep
