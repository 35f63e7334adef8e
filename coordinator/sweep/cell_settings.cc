#include "coordinator/sweep/cell_settings.h"

#include <array>
#include <utility>

namespace leadline::sweep {
namespace {

/// Which settings the default of a setting is computed from, nearest first.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8>
    kDependence = {{
        {"block_sublayers", "blocks"},
        {"blocks", "method"},
        {"n_heads", "d_model"},
        {"n_kv_heads", "n_heads"},
        {"d_ff", "d_model"},
        {"eval_stride", "context"},
        {"lr_min", "lr"},
        {"micro_batch", "batch_sequences"},
    }};

void Give(GivenCell& cell, const std::string& key, const spec::Value& value,
          Position at) {
  // The two are one setting, so the later one replaces the earlier.
  if (key == "blocks") cell.settings.erase("block_sublayers");
  if (key == "block_sublayers") cell.settings.erase("blocks");
  cell.settings.insert_or_assign(key, value);
  cell.from.insert_or_assign(key, at);
}

void GiveChoice(GivenCell& cell, const std::string& key, const Choice& choice) {
  if (const auto* value = std::get_if<spec::Value>(&choice.value)) {
    Give(cell, key, *value, choice.at);
  } else if (const auto* method = std::get_if<Method>(&choice.value)) {
    cell.method = &choice;
    Give(cell, "method", method->name, choice.at);
  } else if (const auto* data = std::get_if<spec::Dataset>(&choice.value)) {
    cell.dataset = data;
  }
}

bool Contains(const Box& box, const Point& point) {
  if (box.is_empty) return false;
  for (size_t d = 0; d < point.size(); ++d) {
    const std::vector<bool>& belongs = box.belongs[d];
    if (!belongs.empty() && !belongs[static_cast<size_t>(point[d])]) {
      return false;
    }
  }
  return true;
}

}  // namespace

GivenCell CellAt(const Sweep& sweep, const std::vector<Dimension>& dimensions,
                 const std::vector<Box>& when_boxes, const Point& point) {
  GivenCell cell;
  cell.choice.resize(sweep.axes.size());
  for (const Axis& fixed : sweep.fixed) {
    GiveChoice(cell, fixed.key, fixed.values[0]);
  }
  for (size_t d = 0; d < dimensions.size(); ++d) {
    for (const size_t axis : dimensions[d].axes) {
      const auto index = static_cast<size_t>(point[d]);
      cell.choice[axis] = index;
      GiveChoice(cell, sweep.axes[axis].key, sweep.axes[axis].values[index]);
    }
  }
  for (const Option& option : std::get<Method>(cell.method->value).options) {
    Give(cell, option.key, option.value, option.at);
  }
  for (size_t i = 0; i < sweep.when.size(); ++i) {
    if (!Contains(when_boxes[i], point)) continue;
    for (const Option& option : sweep.when[i].set) {
      Give(cell, option.key, option.value, option.at);
    }
  }
  return cell;
}

Position CauseOf(const GivenCell& cell, std::string_view key) {
  for (bool known = true; known;) {
    if (const auto found = cell.from.find(key); found != cell.from.end()) {
      return found->second;
    }
    known = false;
    for (const auto& [setting, cause] : kDependence) {
      if (setting != key) continue;
      key = cause;
      known = true;
      break;
    }
  }
  return cell.method->at;
}

}  // namespace leadline::sweep
