#include "cli/results_grid.h"

#include <algorithm>
#include <map>
#include <set>

namespace leadline::cli {
namespace {

using Cells = std::vector<v1::CellResult>;

std::string AxisValue(const v1::CellResult& cell, const std::string& axis) {
  const auto found = cell.axes().find(axis);
  return found == cell.axes().end() ? "" : found->second;
}

std::vector<std::string> FurtherAxes(const Cells& cells) {
  std::map<std::string, std::set<std::string>> values;
  for (const v1::CellResult& cell : cells) {
    for (const auto& [key, value] : cell.axes()) values[key].insert(value);
  }
  std::vector<std::string> axes;
  for (const auto& [key, seen] : values) {
    const bool own_place =
        key == "depth" || key == "dataset" || key == "method";
    if (!own_place && seen.size() > 1) axes.push_back(key);
  }
  return axes;
}

bool GoesWithDepth(const Cells& cells, const std::string& axis) {
  std::map<int64_t, std::string> of_depth;
  for (const v1::CellResult& cell : cells) {
    const std::string value = AxisValue(cell, axis);
    if (of_depth.emplace(cell.depth(), value).first->second != value) {
      return false;
    }
  }
  return true;
}

std::string ColumnTitle(const v1::CellResult& cell,
                        const std::vector<std::string>& axes) {
  std::string title = "depth " + std::to_string(cell.depth());
  for (const std::string& axis : axes) {
    title += ", " + axis + " " + AxisValue(cell, axis);
  }
  return title;
}

size_t IndexOf(std::vector<std::string>* list, const std::string& item) {
  const auto found = std::find(list->begin(), list->end(), item);
  if (found != list->end()) return found - list->begin();
  list->push_back(item);
  return list->size() - 1;
}

GridRow* RowOf(Grid* grid, std::map<std::vector<std::string>, size_t>* places,
               const v1::CellResult& cell) {
  std::vector<std::string> key = {cell.dataset(), cell.method()};
  for (const std::string& axis : grid->row_axes) {
    key.push_back(AxisValue(cell, axis));
  }
  const auto [place, is_new] = places->emplace(key, grid->rows.size());
  if (is_new) {
    grid->rows.push_back({key[0], key[1], {key.begin() + 2, key.end()}, {}});
  }
  return &grid->rows[place->second];
}

}  // namespace

Grid ArrangeResults(const ResultsSet& results) {
  Grid grid;
  std::vector<std::string> column_axes;
  for (const std::string& axis : FurtherAxes(results.cells)) {
    (GoesWithDepth(results.cells, axis) ? column_axes : grid.row_axes)
        .push_back(axis);
  }
  std::map<std::vector<std::string>, size_t> places;
  std::vector<std::string> datasets;
  for (const v1::CellResult& cell : results.cells) {
    const size_t column =
        IndexOf(&grid.columns, ColumnTitle(cell, column_axes));
    GridRow* row = RowOf(&grid, &places, cell);
    row->cells.resize(std::max(row->cells.size(), column + 1));
    row->cells[column] = &cell;
    IndexOf(&datasets, cell.dataset());
  }
  for (GridRow& row : grid.rows) row.cells.resize(grid.columns.size());
  std::stable_sort(grid.rows.begin(), grid.rows.end(),
                   [&](const GridRow& a, const GridRow& b) {
                     return IndexOf(&datasets, a.dataset) <
                            IndexOf(&datasets, b.dataset);
                   });
  return grid;
}

const v1::CellResult* BestOf(const Grid& grid, const std::string& dataset,
                             size_t column) {
  const v1::CellResult* best = nullptr;
  int competitors = 0;
  for (const GridRow& row : grid.rows) {
    const v1::CellResult* cell = row.cells[column];
    if (row.dataset != dataset || cell == nullptr || !cell->has_mean())
      continue;
    ++competitors;
    if (best == nullptr || cell->mean() < best->mean()) best = cell;
  }
  return competitors > 1 ? best : nullptr;
}

}  // namespace leadline::cli
