// What a sweep gives for one point of its grid, layer upon layer.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "coordinator/sweep/grid.h"
#include "coordinator/sweep/sweep.h"
#include "model/spec/dataset_table.h"
#include "model/spec/settings.h"

namespace leadline::sweep {

/// One point, before defaults are filled in. Points into the sweep.
struct GivenCell {
  spec::GivenSettings settings;
  std::map<std::string, Position, std::less<>> from;  // where each was given
  const spec::Dataset* dataset = nullptr;
  const Choice* method = nullptr;
  std::vector<size_t> choice;  // the value's index on every axis
};

/// Fixed settings, then axes and the method's options, then each `when` that
/// matches, in order; later layers win. `when_boxes` are those of sweep.when.
GivenCell CellAt(const Sweep& sweep, const std::vector<Dimension>& dimensions,
                 const std::vector<Box>& when_boxes, const Point& point);

/// Where to look for the cause of an error in that key: where it was given, or
/// what its default comes from.
Position CauseOf(const GivenCell& cell, std::string_view key);

}  // namespace leadline::sweep
