#include "cli/plan_view.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/numbers.h"
#include "cli/table.h"
#include "common/human_number.h"

namespace leadline::cli {
namespace {

using Axes = std::map<std::string, std::string>;

Axes AxesOf(const v1::PlannedCell& cell) {
  return {cell.axes().begin(), cell.axes().end()};
}

Json CellJson(const v1::PlannedCell& cell) {
  Json axes = Json::object();
  for (const auto& [key, value] : AxesOf(cell)) axes[key] = value;
  return {{"cell", cell.number()},
          {"depth", cell.depth()},
          {"dataset", cell.dataset()},
          {"method", cell.method()},
          {"trials", cell.trials()},
          {"parameters", cell.parameters()},
          {"flops", JsonNumber(cell.flops())},
          {"cohort", cell.cohort()},
          {"ranks", cell.ranks()},
          {"threads", cell.threads()},
          {"memory_bytes", cell.memory_bytes()},
          {"without_embedding", cell.without_embedding()},
          {"hash", cell.hash()},
          {"axes", axes}};
}

std::vector<std::string> FurtherAxes(const PlanView& plan) {
  std::vector<std::string> keys;
  for (const v1::AxisCount& axis : plan.counts.axes()) {
    const bool own_place = axis.key() == "depth" || axis.key() == "dataset" ||
                           axis.key() == "method";
    if (!own_place && axis.values() > 1) keys.push_back(axis.key());
  }
  return keys;
}

std::string Summary(const v1::PlanCounts& counts, const Style& style) {
  std::string text = fmt::format(
      "{}: {}, {} ({} each)\n", style.Bold(style.Clean(counts.name())),
      Counted(counts.cells(), "cell"), Counted(counts.trials(), "trial"),
      Counted(counts.seeds(), "seed"));
  for (const v1::AxisCount& axis : counts.axes()) {
    text += fmt::format("  axis {}: {}\n", style.Clean(axis.key()),
                        Counted(axis.values(), "value"));
  }
  for (const v1::RuleCount& rule : counts.rules()) {
    text += fmt::format("  {}: matches {}\n", style.Clean(rule.rule()),
                        Counted(rule.cells(), "cell"));
  }
  text += fmt::format(
      "  excluded {}, duplicates {}, reused {}\n", Grouped(counts.excluded()),
      counts.has_duplicates() ? Grouped(counts.duplicates()) : "not counted",
      Grouped(counts.reused()));
  if (counts.has_flops()) {
    text +=
        fmt::format("  all trials together {}\n", HumanFlops(counts.flops()));
  }
  if (counts.has_memory_bytes()) {
    text += fmt::format("  largest trainer {} of tensors\n",
                        HumanBytes(counts.memory_bytes()));
  }
  return text;
}

}  // namespace

absl::StatusOr<PlanView> FetchPlan(Connection& connection,
                                   const v1::SubmitRequest& request) {
  PlanView plan;
  absl::Status status = connection.ReadAll<v1::PlanPart>(
      [&](grpc::ClientContext* context, auto* reactor) {
        connection.sweeps().async()->Plan(context, &request, reactor);
      },
      [&](const v1::PlanPart& part) {
        if (part.has_counts()) plan.counts = part.counts();
        plan.cells.insert(plan.cells.end(), part.cells().cells().begin(),
                          part.cells().cells().end());
        return absl::OkStatus();
      },
      request.file());
  if (!status.ok()) return status;
  return plan;
}

Json PlanJson(const PlanView& plan) {
  const v1::PlanCounts& counts = plan.counts;
  Json axes = Json::array();
  for (const v1::AxisCount& axis : counts.axes()) {
    axes.push_back({{"key", axis.key()}, {"values", axis.values()}});
  }
  Json rules = Json::array();
  for (const v1::RuleCount& rule : counts.rules()) {
    rules.push_back({{"rule", rule.rule()}, {"cells", rule.cells()}});
  }
  Json cells = nullptr;
  if (counts.cells_listed()) {
    cells = Json::array();
    for (const auto& cell : plan.cells) cells.push_back(CellJson(cell));
  }
  return {{"name", counts.name()},
          {"cells", counts.cells()},
          {"trials", counts.trials()},
          {"seeds", counts.seeds()},
          {"duplicates",
           JsonOptional(counts.has_duplicates(), counts.duplicates())},
          {"excluded", counts.excluded()},
          {"reused", counts.reused()},
          {"flops", JsonOptional(counts.has_flops(), counts.flops())},
          {"memory_bytes",
           JsonOptional(counts.has_memory_bytes(), counts.memory_bytes())},
          {"axes", axes},
          {"rules", rules},
          {"per_cell", cells}};
}

std::string RenderPlan(const PlanView& plan, size_t most, const Style& style) {
  std::string text = Summary(plan.counts, style);
  if (!plan.counts.cells_listed()) {
    return text + "  too many to list: counts alone\n";
  }
  const std::vector<std::string> further = FurtherAxes(plan);
  Table table{{{"cell", Align::kRight},
               {"depth", Align::kRight},
               {"dataset"},
               {"method"}},
              {}};
  for (const auto& key : further) table.columns.push_back({style.Clean(key)});
  const bool has_ranks = std::ranges::any_of(
      plan.cells, [](const v1::PlannedCell& cell) { return cell.ranks() > 1; });
  if (has_ranks) table.columns.push_back({"ranks", Align::kRight});
  for (const char* title :
       {"trials", "parameters", "FLOPs a trial",
        has_ranks ? "memory a rank" : "memory an attempt"}) {
    table.columns.push_back({title, Align::kRight});
  }
  bool starred = false;
  const size_t shown = std::min(most, plan.cells.size());
  for (size_t i = 0; i < shown; ++i) {
    const v1::PlannedCell& cell = plan.cells[i];
    const char* star = cell.without_embedding() ? " *" : "";
    starred = starred || cell.without_embedding();
    std::vector<std::string> row = {
        std::to_string(cell.number()), std::to_string(cell.depth()),
        style.Clean(cell.dataset()), style.Clean(cell.method())};
    const Axes axes = AxesOf(cell);
    for (const auto& key : further) {
      const auto value = axes.find(key);
      row.push_back(value == axes.end() ? "" : style.Clean(value->second));
    }
    if (has_ranks) row.push_back(std::to_string(cell.ranks()));
    row.push_back(std::to_string(cell.trials()));
    row.push_back(HumanCount(static_cast<double>(cell.parameters())) + star);
    row.push_back(HumanFlops(cell.flops()) + star);
    row.push_back(HumanBytes(cell.memory_bytes()) + star);
    table.rows.push_back(std::move(row));
  }
  text += "\n" + Render(table, style);
  if (starred) {
    text +=
        "* without the embedding: the vocabulary is known once the data "
        "is there\n";
  }
  if (shown < plan.cells.size()) {
    text += fmt::format("{} of {} cells; --all lists all\n", Grouped(shown),
                        Grouped(static_cast<int64_t>(plan.cells.size())));
  }
  return text;
}

}  // namespace leadline::cli
