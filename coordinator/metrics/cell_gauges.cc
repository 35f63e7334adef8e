#include "coordinator/metrics/cell_gauges.h"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "coordinator/metrics/bounds.h"
#include "coordinator/metrics/gauge_family.h"
#include "coordinator/metrics/label_text.h"

namespace leadline::metrics {
namespace {

/// A cell has at most three series.
constexpr size_t kSeriesOfACell = 3;
/// More cells than can have series need not be told apart.
constexpr int64_t kMostRead = kMostCellSeries;

using Place = std::array<std::string, 3>;  // depth, dataset, method

Place PlaceOf(const storage::CellRecord& cell) {
  return {std::to_string(cell.depth), cell.dataset_label, cell.method_label};
}

/// " (lr=0.001, width=64)": the values of all axes but those with a label.
std::string FurtherAxes(const storage::CellRecord& cell) {
  const auto axes =
      nlohmann::json::parse(cell.axes_json, nullptr, /*exceptions=*/false);
  std::string text;
  if (!axes.is_object()) return text;
  for (const auto& [key, value] : axes.items()) {
    if (key == "depth" || key == "dataset" || key == "method") continue;
    text += (text.empty() ? " (" : ", ") + key + "=" +
            (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text.empty() ? text : text + ")";
}

std::vector<double> ValuesOf(const storage::CellValues& cell) {
  std::vector<double> values;
  for (const storage::SeedValue& seed : cell.values) {
    values.push_back(seed.value);
  }
  return values;
}

}  // namespace

void CellGauges::ReadSweep(const control::SweepCounts& sweep,
                           Read& read) const {
  read = {sweep.trials, {}, 0};
  if (sweep.trials[static_cast<size_t>(TrialState::kSucceeded)] == 0) return;
  const auto cells =
      reader_.ListCells(sweep.id, "validation_loss", 0, kMostRead);
  if (!cells.ok()) return;
  std::map<Place, int64_t> at_place;
  for (const storage::CellValues& cell : *cells) ++at_place[PlaceOf(cell.cell)];
  std::set<std::vector<std::string>> taken;
  for (const storage::CellValues& cell : *cells) {
    if (cell.values.empty()) continue;
    const Place place = PlaceOf(cell.cell);
    const std::string further =
        at_place[place] > 1 ? FurtherAxes(cell.cell) : "";
    std::vector<std::string> labels = {ToText(sweep.id), place[0],
                                       LabelText(place[1]),
                                       LabelText(place[2] + further)};
    // Two values under one name would be no figure at all.
    if (!taken.insert(labels).second) {
      ++read.left_out;
      continue;
    }
    read.cells.push_back(
        {std::move(labels), analysis::Summarise(ValuesOf(cell))});
  }
}

std::vector<prometheus::MetricFamily> CellGauges::Collect(
    const std::vector<control::SweepCounts>& sweeps) {
  std::map<SweepId, Read> kept;
  for (const control::SweepCounts& sweep : sweeps) {
    auto node = read_.extract(sweep.id);
    Read& read = kept[sweep.id];
    if (!node.empty()) read = std::move(node.mapped());
    if (node.empty() || read.trials != sweep.trials) ReadSweep(sweep, read);
  }
  read_ = std::move(kept);

  GaugeFamily mean("leadline_cell_loss_mean");
  GaugeFamily sd("leadline_cell_loss_sd");
  GaugeFamily seeds("leadline_cell_loss_seeds");
  left_out_ = 0;
  size_t room = kMostCellSeries;
  for (auto at = read_.rbegin(); at != read_.rend(); ++at) {
    left_out_ += at->second.left_out;
    for (const Cell& cell : at->second.cells) {
      if (room < kSeriesOfACell) {
        ++left_out_;
        continue;
      }
      room -= kSeriesOfACell;
      mean.Set(cell.labels, cell.summary.mean.value_or(0));
      if (cell.summary.sd) sd.Set(cell.labels, *cell.summary.sd);
      seeds.Set(cell.labels, static_cast<double>(cell.summary.n));
    }
  }
  return {mean.family(), sd.family(), seeds.family()};
}

}  // namespace leadline::metrics
