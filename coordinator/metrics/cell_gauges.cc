#include "coordinator/metrics/cell_gauges.h"

#include <array>
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

int64_t Succeeded(const control::SweepCounts& sweep) {
  return sweep.trials[static_cast<size_t>(TrialState::kSucceeded)];
}

std::vector<double> ValuesOf(const storage::CellValues& cell) {
  std::vector<double> values;
  for (const storage::SeedValue& seed : cell.values) {
    values.push_back(seed.value);
  }
  return values;
}

}  // namespace

CellGauges::Read CellGauges::ReadSweep(
    const control::SweepCounts& sweep) const {
  Read read;
  const auto cells =
      reader_.ListCells(sweep.id, "validation_loss", 0, kMostRead);
  if (!cells.ok()) return read;
  read.succeeded = Succeeded(sweep);
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
  return read;
}

/// What was read before, if nothing has succeeded since.
CellGauges::Read CellGauges::Recall(const control::SweepCounts& sweep) {
  const int64_t succeeded = Succeeded(sweep);
  auto known = read_.extract(sweep.id);
  if (!known.empty() && known.mapped().succeeded == succeeded) {
    return std::move(known.mapped());
  }
  return succeeded == 0 ? Read{} : ReadSweep(sweep);
}

std::vector<prometheus::MetricFamily> CellGauges::Collect(
    const std::vector<control::SweepCounts>& sweeps) {
  GaugeFamily mean("leadline_cell_loss_mean");
  GaugeFamily sd("leadline_cell_loss_sd");
  GaugeFamily seeds("leadline_cell_loss_seeds");
  std::map<SweepId, Read> kept;
  left_out_ = 0;
  size_t room = kMostCellSeries;
  for (auto sweep = sweeps.rbegin(); sweep != sweeps.rend(); ++sweep) {
    if (room < kSeriesOfACell) {
      left_out_ += Succeeded(*sweep) > 0 ? 1 : 0;
      continue;
    }
    const Read& read = kept[sweep->id] = Recall(*sweep);
    left_out_ += read.left_out;
    for (const Cell& cell : read.cells) {
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
  read_ = std::move(kept);
  return {mean.family(), sd.family(), seeds.family()};
}

}  // namespace leadline::metrics
