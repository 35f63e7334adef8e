// How cells fall into rows and columns.

#pragma once

#include <string>
#include <vector>

#include "cli/results_set.h"

namespace leadline::cli {

struct GridRow {
  std::string dataset;
  std::string method;
  std::vector<std::string> values;  // of the grid's row axes
  /// A cell a column; null where the sweep has none.
  std::vector<const v1::CellResult*> cells;
};

/// Rows of one data set stand together; all in order of first appearance.
struct Grid {
  std::vector<std::string> row_axes;  // beside data set and method
  std::vector<std::string> columns;   // titles: "depth 4", "depth 4, lr 1e-3"
  std::vector<GridRow> rows;
};

/// Points into `results`. Axes with one value are left out.
Grid ArrangeResults(const ResultsSet& results);

/// The lowest mean of that column among rows of the data set, if at least two
/// have one.
const v1::CellResult* BestOf(const Grid& grid, const std::string& dataset,
                             size_t column);

}  // namespace leadline::cli
