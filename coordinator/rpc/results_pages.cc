#include "coordinator/rpc/results_pages.h"

#include <string_view>
#include <utility>

#include <absl/status/status.h>

#include "common/utf8_prefix.h"
#include "coordinator/analysis/warnings.h"
#include "coordinator/rpc/resolve.h"
#include "coordinator/rpc/results_convert.h"
#include "storage/result_metric.h"

namespace leadline::rpc {
namespace {

constexpr int64_t kPageCells = 200;

// The split that is shown unless another is asked for.
constexpr std::string_view kUsualSplit = "validation";

analysis::CellSample SampleOf(const storage::CellValues& values) {
  analysis::CellSample sample;
  sample.cell = ToText(values.cell.id);
  sample.planned = values.planned;
  sample.diverged = values.diverged;
  sample.failed = values.failed;
  sample.unit = values.cell.unit;
  sample.method = values.cell.method_label;
  for (const storage::SeedValue& value : values.values) {
    sample.seeds.push_back({value.seed, value.value, value.numerics});
  }
  return sample;
}

int64_t Count(const storage::SweepRow& row, TrialState state) {
  return row.trials[static_cast<size_t>(state)];
}

}  // namespace

absl::StatusOr<MetricChoice> ChooseMetric(const std::string& metric,
                                          const std::string& split) {
  // The first that fits.
  for (const storage::ResultMetric& known : storage::kResultMetrics) {
    const bool fits_metric = metric.empty() || metric == known.name;
    const bool fits_split =
        split == known.split ||
        (split.empty() && (!metric.empty() || known.split == kUsualSplit));
    if (fits_metric && fits_split) {
      return MetricChoice{std::string(known.name), std::string(known.split)};
    }
  }
  std::string asked;
  if (!metric.empty()) {
    asked += "no metric \"" + std::string(Utf8Prefix(metric, 100)) + "\"";
  }
  if (!split.empty()) {
    asked += asked.empty() ? "no split \"" : " of split \"";
    asked += std::string(Utf8Prefix(split, 100)) + "\"";
  }
  return absl::InvalidArgumentError(
      asked +
      "; choose validation_loss or best_validation_loss of split "
      "validation, or test_loss of split test");
}

absl::StatusOr<std::vector<v1::ResultsPart>> ResultsPages::Next() {
  if (!begun_) return Header();
  const auto cells =
      reader_.ListCells(sweep_, choice_.metric, after_, kPageCells);
  if (!cells.ok()) return cells.status();
  std::vector<v1::ResultsPart> page;
  for (const storage::CellValues& values : *cells) {
    *page.emplace_back().mutable_cell() = ResultOf(values, choice_.split);
    after_ = values.cell.id.number;
  }
  return page;
}

absl::StatusOr<std::vector<v1::ResultsPart>> ResultsPages::Header() {
  begun_ = true;
  const auto choice = ChooseMetric(request_.metric(), request_.split());
  if (!choice.ok()) return choice.status();
  choice_ = *choice;
  const auto sweep = ResolveSweep(reader_, request_.sweep());
  if (!sweep.ok()) return sweep.status();
  sweep_ = *sweep;
  const auto row = reader_.GetSweep(sweep_);
  if (!row.ok()) return row.status();

  std::vector<v1::ResultsPart> page(1);
  v1::ResultsHeader& header = *page.front().mutable_header();
  header.set_sweep(ToText(sweep_));
  header.set_name(row->sweep.name);
  header.set_database(database_);
  header.set_metric(choice_.metric);
  header.set_split(choice_.split);
  header.set_complete(row->sweep.state == SweepState::kComplete);
  header.set_failed(Count(*row, TrialState::kFailed));
  header.set_diverged(Count(*row, TrialState::kDiverged));
  header.set_cancelled(Count(*row, TrialState::kCancelled));
  header.set_never_began(row->never_began);
  header.set_state(std::string(Name(row->sweep.state)));
  const auto orphans = reader_.SweepOrphans(sweep_);
  if (!orphans.ok()) return orphans.status();
  header.set_orphan_attempts(orphans->attempts);
  header.set_orphan_records(orphans->records);

  analysis::Warnings warnings(row->sweep.state == SweepState::kComplete ||
                              row->sweep.state == SweepState::kCancelled);
  int64_t after = 0;
  for (;;) {
    const auto cells =
        reader_.ListCells(sweep_, choice_.metric, after, kPageCells);
    if (!cells.ok()) return cells.status();
    if (cells->empty()) break;
    if (after == 0) header.set_unit(cells->front().cell.unit);
    for (const storage::CellValues& values : *cells) {
      warnings.Add(SampleOf(values));
    }
    after = cells->back().cell.id.number;
  }
  for (const std::string& line : warnings.Lines()) header.add_warnings(line);
  return page;
}

}  // namespace leadline::rpc
