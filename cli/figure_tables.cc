#include "cli/figure_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "cli/routing_map.h"
#include "cli/table.h"

namespace leadline::cli {
namespace {

struct FigureColumn {
  const char* figure;
  const char* title;
};

constexpr std::array kOfRouters = {
    FigureColumn{"route.effective_sources", "effective"},
    FigureColumn{"route.effective_sources_frac", "of all"},
    FigureColumn{"route.tv_uniform", "tv"},
    FigureColumn{"route.last_mass", "newest"},
    FigureColumn{"route.partial_mass", "partial"},
    FigureColumn{"route.null_mass", "null"},
    FigureColumn{"route.lookback", "lookback"},
    FigureColumn{"route.ratio", "out/stream"},
    FigureColumn{"source.cosine", "cosine"},
    FigureColumn{"detail.rms_ratio.phase_partial", "phase D/C"},
    FigureColumn{"detail.rms_ratio.split_partial", "split D/C"},
    FigureColumn{"router.w_norm", "|w|"},
    FigureColumn{"router.w_grad_norm", "|dL/dw|"},
};

constexpr std::array kOfSublayers = {
    FigureColumn{"layer.input_rms", "input rms"},
    FigureColumn{"layer.output_rms", "update rms"},
    FigureColumn{"layer.stream_rms", "stream rms"},
    FigureColumn{"layer.grad_rms", "gradient rms"},
    FigureColumn{"detail.beta.phase", "phase beta"},
    FigureColumn{"detail.beta.split", "split beta"},
    FigureColumn{"scale.alpha", "alpha"},
    FigureColumn{"scale.lambda_rms", "lambda rms"},
    FigureColumn{"null.logit", "null logit"},
    FigureColumn{"gate.value", "gate"},
    FigureColumn{"streams.spread", "spread"},
};

constexpr std::array kOfBlocks = {
    FigureColumn{"detail.rms_ratio.phase_finished", "phase D/C"},
    FigureColumn{"detail.clipped.phase_finished", "phase clipped"},
    FigureColumn{"detail.rms_ratio.split_finished", "split D/C"},
    FigureColumn{"detail.clipped.split_finished", "split clipped"},
};

std::string ValueText(double value) {
  return std::isnan(value) ? "" : fmt::format("{:.3g}", value);
}

/// Rows 0, 1, ... of the columns that there are figures for; empty if none.
std::string TableOf(std::span<const FigureColumn> columns,
                    const std::string& heading, const std::string& first,
                    const Figures& figures, const Style& style,
                    std::string (*row_name)(size_t row)) {
  Table table{{{first}}, {}};
  size_t rows = 0;
  for (const FigureColumn& column : columns) {
    const auto found = figures.find(column.figure);
    if (found == figures.end()) continue;
    table.columns.push_back({column.title, Align::kRight});
    rows = std::max(rows, found->second.size());
  }
  if (rows == 0) return "";
  for (size_t r = 0; r < rows; ++r) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    cells.push_back(row_name(r));
    for (const FigureColumn& column : columns) {
      const auto found = figures.find(column.figure);
      if (found == figures.end()) continue;
      cells.push_back(r < found->second.size() ? ValueText(found->second[r])
                                               : "");
    }
  }
  return "\n" + heading + "\n" + Render(table, style);
}

std::string SublayerName(size_t row) {
  return fmt::format("{:>3} {}", row, row % 2 == 0 ? "attention" : "MLP");
}

std::string CausalTable(const Figures& figures, const Style& style) {
  constexpr std::string_view kPrefix = "causal.";
  Table table{{{"without"}, {"change", Align::kRight}, {"se", Align::kRight}},
              {}};
  for (const auto& [name, changes] : figures) {
    if (!name.starts_with(kPrefix) || name.ends_with(".se")) continue;
    const auto errors = figures.find(name + ".se");
    for (size_t i = 0; i < changes.size(); ++i) {
      std::string family = style.Clean(name.substr(kPrefix.size()));
      if (name == "causal.block") family += " " + std::to_string(i);
      const bool has_error =
          errors != figures.end() && i < errors->second.size();
      table.rows.push_back(
          {family, fmt::format("{:+.4f}", changes[i]),
           has_error ? fmt::format("{:.4f}", errors->second[i]) : ""});
    }
  }
  if (table.rows.empty()) return "";
  return "\nloss without a family of sources less that with it, nats a "
         "symbol\n" +
         Render(table, style);
}

}  // namespace

std::string RenderFigures(const v1::RoutingReply& routing, const Style& style) {
  const Figures figures = ReadFigures(routing);
  const std::string text =
      TableOf(kOfRouters, "routers", "router", figures, style, &SublayerName) +
      TableOf(kOfSublayers, "sublayers", "sublayer", figures, style,
              &SublayerName) +
      TableOf(kOfBlocks, "details of finished blocks", "block", figures, style,
              [](size_t row) { return std::to_string(row); }) +
      CausalTable(figures, style);
  if (text.empty()) return "";
  return text + "\nall figures: --json; what they mean: docs/diagnostics.md\n";
}

}  // namespace leadline::cli
