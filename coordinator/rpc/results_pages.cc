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

// Two statements a page: 10,000 trials of five seeds are one.
constexpr int64_t kReadCells = 2500;
constexpr size_t kPageParts = 200;
constexpr size_t kPartBytes = size_t{128} << 10;
constexpr size_t kMostKeptBytes = size_t{8} << 20;

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
  if (kept_.empty() && !all_kept_) {
    const absl::Status read = ReadCells();
    if (!read.ok()) return read;
  }
  return request_.many_cells() ? TakePageOfMany() : TakePage();
}

std::vector<v1::ResultsPart> ResultsPages::TakePage() {
  std::vector<v1::ResultsPart> page;
  while (!kept_.empty() && page.size() < kPageParts) {
    *page.emplace_back().mutable_cell() = std::move(kept_.front());
    kept_.pop_front();
  }
  return page;
}

/// One part: with a message a cell, most of the time goes into messages.
std::vector<v1::ResultsPart> ResultsPages::TakePageOfMany() {
  std::vector<v1::ResultsPart> page;
  size_t bytes = 0;
  while (!kept_.empty() && bytes < kPartBytes) {
    if (page.empty()) page.emplace_back();
    bytes += kept_.front().ByteSizeLong();
    *page.front().mutable_cells()->add_cells() = std::move(kept_.front());
    kept_.pop_front();
  }
  return page;
}

absl::Status ResultsPages::ReadCells() {
  const auto cells =
      reader_.ListCells(sweep_, choice_.metric, after_, kReadCells);
  if (!cells.ok()) return cells.status();
  for (const storage::CellValues& values : *cells) Keep(values);
  all_kept_ = std::ssize(*cells) < kReadCells;
  return absl::OkStatus();
}

size_t ResultsPages::Keep(const storage::CellValues& values) {
  kept_.push_back(ResultOf(values, choice_.split));
  after_ = values.cell.id.number;
  return kept_.back().ByteSizeLong();
}

absl::Status ResultsPages::ReadForHeader(analysis::Warnings& warnings,
                                         v1::ResultsHeader& header) {
  int64_t after = 0;
  size_t bytes = 0;
  for (bool more = true; more;) {
    const auto cells =
        reader_.ListCells(sweep_, choice_.metric, after, kReadCells);
    if (!cells.ok()) return cells.status();
    for (const storage::CellValues& values : *cells) {
      if (after == 0) header.set_unit(values.cell.unit);
      warnings.Add(SampleOf(values));
      after = values.cell.id.number;
      if (bytes <= kMostKeptBytes) bytes += Keep(values);
    }
    more = std::ssize(*cells) == kReadCells;
  }
  all_kept_ = after_ == after;
  return absl::OkStatus();
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
  const absl::Status read = ReadForHeader(warnings, header);
  if (!read.ok()) return read;
  for (const std::string& line : warnings.Lines()) header.add_warnings(line);
  return page;
}

}  // namespace leadline::rpc
