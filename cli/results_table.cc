#include "cli/results_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/numbers.h"
#include "cli/results_grid.h"

namespace leadline::cli {
namespace {

constexpr size_t kMostNotes = 20;

std::string UnitName(const std::string& unit) {
  if (unit == "nats/char") return "nats per character";
  return unit == "nats/byte" ? "nats per byte" : unit;
}

bool IsLoss(const ResultsSet& results) {
  return results.header.metric().ends_with("loss");
}

std::string MetricName(const ResultsSet& results) {
  std::string name = results.header.metric();
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

// One number of decimals for the whole table: the median over its cells.
int Decimals(const ResultsSet& results) {
  std::vector<int> wanted;
  for (const v1::CellResult& cell : results.cells) {
    if (cell.has_sd() && cell.sd() > 0)
      wanted.push_back(DecimalsFor(cell.sd()));
  }
  if (wanted.empty()) return DecimalsFor(std::nullopt);
  std::nth_element(wanted.begin(), wanted.begin() + wanted.size() / 2,
                   wanted.end());
  return wanted[wanted.size() / 2];
}

std::optional<double> Optional(bool present, double value) {
  return present ? std::optional(value) : std::nullopt;
}

MeanText TextOf(const v1::CellResult& cell, int decimals) {
  return MeanAndSd(Optional(cell.has_mean(), cell.mean()),
                   Optional(cell.has_sd(), cell.sd()), cell.n(), cell.planned(),
                   decimals);
}

// Those of one column of the grid, or of all.
std::vector<MeanText> TextsOf(const Grid& grid, std::optional<size_t> column,
                              int decimals) {
  std::vector<MeanText> texts;
  for (const GridRow& row : grid.rows) {
    for (size_t c = 0; c < row.cells.size(); ++c) {
      if (row.cells[c] == nullptr || c != column.value_or(c)) continue;
      texts.push_back(TextOf(*row.cells[c], decimals));
    }
  }
  return texts;
}

std::string Entry(const v1::CellResult& cell, bool best, int decimals,
                  const std::vector<MeanText>& column, const Style& style) {
  const std::string text = Aligned(TextOf(cell, decimals), column, style);
  return best ? style.Bold(text + " *") : text + "  ";
}

std::string FloorText(const v1::CellResult* cell, int decimals) {
  if (cell == nullptr || !cell->has_floor()) return "";
  return fmt::format("{:.{}f}", cell->floor(), decimals);
}

// The floors of a data set, below its rows; nothing if none is known.
void AddFloors(const Grid& grid, const std::string& dataset, int decimals,
               Table* table) {
  std::vector<std::string> floors(grid.columns.size());
  bool any = false;
  for (const GridRow& row : grid.rows) {
    if (row.dataset != dataset) continue;
    for (size_t i = 0; i < row.cells.size(); ++i) {
      if (floors[i].empty()) floors[i] = FloorText(row.cells[i], decimals);
      any = any || !floors[i].empty();
    }
  }
  if (!any) return;
  std::vector<std::string> line = {"", "(floor)"};
  line.resize(2 + grid.row_axes.size());
  line.insert(line.end(), floors.begin(), floors.end());
  table->rows.push_back(std::move(line));
}

std::string Notes(const ResultsSet& results, const Style& style) {
  std::vector<std::string> lines;
  for (const v1::CellResult& cell : results.cells) {
    if (cell.diverged() == 0 && cell.failed() == 0) continue;
    lines.push_back(fmt::format(
        "{} (depth {}, {}, {}): of {} {} diverged and {} failed\n", cell.cell(),
        cell.depth(), style.Clean(cell.dataset()), style.Clean(cell.method()),
        Counted(cell.planned(), "trial"), cell.diverged(), cell.failed()));
  }
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMostNotes); ++i) {
    text += lines[i];
  }
  if (lines.size() > kMostNotes) {
    text += fmt::format("{} of {} such cells; --format csv lists all\n",
                        kMostNotes, lines.size());
  }
  const v1::ResultsHeader& header = results.header;
  if (header.cancelled() > 0) {
    text += fmt::format("{} cancelled, {} of them before they began\n",
                        Counted(header.cancelled(), "trial"),
                        Grouped(header.never_began()));
  }
  if (header.orphan_records() > 0) {
    text += fmt::format(
        "{} of {} came too late and are part of no figure; leadline explain {} "
        "tells of them\n",
        Counted(header.orphan_records(), "record"),
        Counted(header.orphan_attempts(), "attempt"), header.sweep());
  }
  for (const std::string& warning : results.header.warnings()) {
    text += "warning: " + style.Clean(warning) + "\n";
  }
  return text;
}

}  // namespace

Table ResultsMatrix(const ResultsSet& results, const Style& style) {
  const Grid grid = ArrangeResults(results);
  const int decimals = Decimals(results);
  Table table;
  table.columns = {{"dataset"}, {"method"}};
  for (const auto& axis : grid.row_axes) table.columns.push_back({axis});
  for (const auto& title : grid.columns) {
    table.columns.push_back({style.Clean(title)});
  }
  std::vector<std::vector<MeanText>> columns;
  for (size_t c = 0; c < grid.columns.size(); ++c) {
    columns.push_back(TextsOf(grid, c, decimals));
  }
  for (size_t r = 0; r < grid.rows.size(); ++r) {
    const GridRow& row = grid.rows[r];
    const bool first = r == 0 || grid.rows[r - 1].dataset != row.dataset;
    const bool last =
        r + 1 == grid.rows.size() || grid.rows[r + 1].dataset != row.dataset;
    std::vector<std::string> line = {first ? style.Clean(row.dataset) : "",
                                     style.Clean(row.method)};
    for (const auto& value : row.values) line.push_back(style.Clean(value));
    for (size_t c = 0; c < row.cells.size(); ++c) {
      const v1::CellResult* cell = row.cells[c];
      const bool best = cell != nullptr && IsLoss(results) &&
                        BestOf(grid, row.dataset, c) == cell;
      line.push_back(cell == nullptr
                         ? ""
                         : Entry(*cell, best, decimals, columns[c], style));
    }
    table.rows.push_back(std::move(line));
    if (last) AddFloors(grid, row.dataset, decimals, &table);
  }
  return table;
}

Table ResultsList(const ResultsSet& results, const Style& style) {
  const Grid grid = ArrangeResults(results);
  const int decimals = Decimals(results);
  Table table;
  table.columns = {{"dataset"}, {"method"}};
  for (const auto& axis : grid.row_axes) table.columns.push_back({axis});
  table.columns.push_back({"at"});
  table.columns.push_back({MetricName(results)});
  table.columns.push_back({"floor", Align::kRight});
  const std::vector<MeanText> all = TextsOf(grid, std::nullopt, decimals);
  for (const GridRow& row : grid.rows) {
    for (size_t c = 0; c < row.cells.size(); ++c) {
      const v1::CellResult* cell = row.cells[c];
      if (cell == nullptr) continue;
      std::vector<std::string> line = {style.Clean(row.dataset),
                                       style.Clean(row.method)};
      for (const auto& value : row.values) line.push_back(style.Clean(value));
      line.push_back(style.Clean(grid.columns[c]));
      const bool best = IsLoss(results) && BestOf(grid, row.dataset, c) == cell;
      line.push_back(Entry(*cell, best, decimals, all, style));
      line.push_back(FloorText(cell, decimals));
      table.rows.push_back(std::move(line));
    }
  }
  return table;
}

std::string RenderResults(const ResultsSet& results, const Style& style) {
  const v1::ResultsHeader& header = results.header;
  std::string text = fmt::format(
      "{} {}: {}{}, {} split, mean {} sd (n) over seeds{}\n\n", header.sweep(),
      style.Bold(style.Clean(header.name())), MetricName(results),
      header.unit().empty() ? "" : " in " + UnitName(header.unit()),
      header.split(), style.plus_minus(),
      header.complete() ? "" : ", not complete");
  Table table = ResultsMatrix(results, style);
  if (style.is_terminal && RenderedWidth(table) > style.width) {
    table = ResultsList(results, style);
  }
  text += Render(table, style) + "\n";
  if (text.find(" *") != std::string::npos) {
    text += "* lowest mean of its data set and depth\n";
  }
  text += Notes(results, style);
  if (!header.database().empty()) {
    text += "database: " + style.Clean(header.database()) +
            (results.host.empty() ? "" : " on " + results.host) + "\n";
  }
  return text;
}

}  // namespace leadline::cli
