#include "coordinator/metrics/metric_table.h"

#include <algorithm>
#include <stdexcept>

#include "common/experiment.h"
#include "coordinator/control/overview.h"
#include "coordinator/metrics/bounds.h"

namespace leadline::metrics {
namespace {

template <typename List>
std::vector<std::string> Names(const List& list) {
  std::vector<std::string> names;
  for (const auto value : list) names.emplace_back(Name(value));
  return names;
}

template <typename List>
LabelDefinition States(const List& list) {
  return {"state", Names(list), ""};
}

LabelDefinition Sweeps() {
  return {"sweep",
          {},
          "ids of the newest " + std::to_string(kMostSweeps) +
              " that are active, paused, or ended within ten "
              "minutes"};
}

std::vector<LabelDefinition> CellLabels() {
  return {Sweeps(),
          {"depth", {}, "of the cell"},
          {"dataset", {}, "as in tables"},
          {"method",
           {},
           "as in tables; with the values of further axes in which cells of "
           "the same depth, dataset and method differ"}};
}

std::vector<std::string> Outcomes() {
  std::vector<std::string> names = Names(kAttemptOutcomes);
  std::erase(names, Name(AttemptOutcome::kLive));
  return names;
}

std::vector<std::string> Kinds() {
  std::vector<std::string> names = Names(kFailureKinds);
  names.emplace_back("none");
  return names;
}

// Times of one step of control and of one commit, to two figures.
const std::vector<double> kShortSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01,
                                           0.025,  0.05,  0.1,    0.25,  0.5,
                                           1,      2.5,   5,      10};
// A stream lasts as long as its client wants.
const std::vector<double> kCallSeconds = {0.001, 0.005, 0.025, 0.1, 0.5,
                                          2.5,   10,    60,    600, 3600};

std::vector<MetricDefinition> Work() {
  return {
      {"leadline_trials",
       MetricType::kGauge,
       "Trials of all sweeps in the store by state.",
       {States(kTrialStates)},
       {}},
      {"leadline_attempts_total",
       MetricType::kCounter,
       "Attempts that ended, by outcome and, where they failed, kind of "
       "failure.",
       {{"outcome", Outcomes(), ""}, {"kind", Kinds(), ""}},
       {}},
      {"leadline_tokens_total",
       MetricType::kCounter,
       "Tokens that trainers told they trained on, by node.",
       {{"node",
         {},
         "names of the first " + std::to_string(kMostNodes) +
             " nodes that trained; then `other`"}},
       {}},
      {"leadline_queue_oldest_seconds",
       MetricType::kGauge,
       "The longest that a cohort of an active sweep has waited for a device, "
       "as far as this process has seen; 0 if none waits.",
       {},
       {}},
      {"leadline_nodes",
       MetricType::kGauge,
       "Nodes that registered since the start, by state.",
       {States(control::kNodeStates)},
       {}},
      {"leadline_devices",
       MetricType::kGauge,
       "Devices of these nodes by state.",
       {States(control::kDeviceStates)},
       {}},
      {"leadline_sweep_trials",
       MetricType::kGauge,
       "Trials of one sweep by state.",
       {Sweeps(), States(kTrialStates)},
       {}},
  };
}

std::vector<MetricDefinition> Cells() {
  return {
      {"leadline_cell_loss_mean",
       MetricType::kGauge,
       "Mean validation loss of a cell over the seeds that succeeded.",
       CellLabels(),
       {}},
      {"leadline_cell_loss_sd",
       MetricType::kGauge,
       "Sample standard deviation (n - 1) of that loss; absent below two "
       "seeds.",
       CellLabels(),
       {}},
      {"leadline_cell_loss_seeds",
       MetricType::kGauge,
       "Seeds of the cell that this mean is over.",
       CellLabels(),
       {}},
      {"leadline_series_left_out",
       MetricType::kGauge,
       "What has no series because there is too much of it: sweeps beyond the "
       "newest, cells beyond the limit (a sweep without any room counts once).",
       {{"what", {"sweeps", "cells"}, ""}},
       {}},
  };
}

std::vector<MetricDefinition> Service() {
  return {
      {"leadline_control_tick_seconds",
       MetricType::kHistogram,
       "Time of one turn of control: apply, commit, act.",
       {},
       kShortSeconds},
      {"leadline_store_commit_seconds",
       MetricType::kHistogram,
       "Time of one transaction of the store.",
       {},
       kShortSeconds},
      {"leadline_store_failures_total",
       MetricType::kCounter,
       "Transactions that were not committed: refused by the disk and tried "
       "again, or failed and taken back.",
       {{"reason", {"refused", "failed"}, ""}},
       {}},
      {"leadline_store_bytes",
       MetricType::kGauge,
       "Size of the database, without its write-ahead log.",
       {},
       {}},
      {"leadline_store_log_bytes",
       MetricType::kGauge,
       "Size of the write-ahead log.",
       {},
       {}},
      {"leadline_points_total",
       MetricType::kCounter,
       "Values of curves by what became of them: stored; overwritten (took the "
       "place of one of the same trial, metric and step); repeated (sent "
       "again, "
       "stored already); late (of an attempt that counts no more, kept apart); "
       "dropped (of a trial that has ended, or late beyond what is kept).",
       {{"result",
         {"stored", "overwritten", "repeated", "late", "dropped"},
         ""}},
       {}},
      {"leadline_rpc_seconds",
       MetricType::kHistogram,
       "Time of calls from their arrival to their status; of streams their "
       "whole life.",
       {{"method", {}, "of our services, `Service/Method`; else `other`"},
        {"code", {}, "the 17 of gRPC"}},
       kCallSeconds},
      {"leadline_http_requests_total",
       MetricType::kCounter,
       "Answers of the HTTP server.",
       {{"route", {}, "paths that are served; else `other`"},
        {"code", {}, "those the server gives"}},
       {}},
      {"leadline_build_info",
       MetricType::kGauge,
       "1; says what is running.",
       {{"version", {}, "one"}, {"commit", {}, "one"}},
       {}},
  };
}

std::vector<MetricDefinition> Process() {
  return {
      {"process_cpu_seconds_total",
       MetricType::kCounter,
       "Processor time spent, user and system.",
       {},
       {}},
      {"process_resident_memory_bytes",
       MetricType::kGauge,
       "Resident memory.",
       {},
       {}},
      {"process_virtual_memory_bytes",
       MetricType::kGauge,
       "Virtual memory.",
       {},
       {}},
      {"process_open_fds",
       MetricType::kGauge,
       "Open file descriptors.",
       {},
       {}},
      {"process_max_fds",
       MetricType::kGauge,
       "The most file descriptors that may be open.",
       {},
       {}},
      {"process_start_time_seconds",
       MetricType::kGauge,
       "Start of the process since the epoch.",
       {},
       {}},
  };
}

std::vector<MetricDefinition> MakeTable() {
  std::vector<MetricDefinition> table;
  for (std::vector<MetricDefinition> part :
       {Work(), Cells(), Service(), Process()}) {
    std::move(part.begin(), part.end(), std::back_inserter(table));
  }
  return table;
}

std::string TextOf(const LabelDefinition& label) {
  std::string text = "`" + label.name + "`: ";
  for (const std::string& value : label.values) {
    text += (&value == label.values.data() ? "`" : ", `") + value + "`";
  }
  return text + label.bound;
}

std::string RowOf(const MetricDefinition& metric) {
  std::string labels;
  for (const LabelDefinition& label : metric.labels) {
    labels += (labels.empty() ? "" : "<br>") + TextOf(label);
  }
  return "| `" + metric.name + "` | " + std::string(Name(metric.type)) + " | " +
         metric.help + " | " + labels + " |\n";
}

}  // namespace

const LabelDefinition& MetricDefinition::Label(std::string_view label) const {
  const auto found = std::ranges::find(labels, label, &LabelDefinition::name);
  if (found == labels.end()) {
    throw std::logic_error(name + " has no label " + std::string(label));
  }
  return *found;
}

const std::vector<MetricDefinition>& MetricTable() {
  static const std::vector<MetricDefinition> table = MakeTable();
  return table;
}

const MetricDefinition& FindMetric(std::string_view name) {
  const std::vector<MetricDefinition>& table = MetricTable();
  const auto found = std::ranges::find(table, name, &MetricDefinition::name);
  if (found == table.end()) {
    throw std::logic_error("no metric " + std::string(name));
  }
  return *found;
}

std::string_view Name(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return "counter";
    case MetricType::kGauge:
      return "gauge";
    case MetricType::kHistogram:
      return "histogram";
  }
  return "";
}

std::string MetricsPage() {
  std::string page =
      "# Metrics\n\n"
      "What `/metrics` of a coordinator (`--http HOST:PORT`) tells Prometheus. "
      "Written from `coordinator/metrics/metric_table.cc`\nby "
      "`LEADLINE_UPDATE_DOCS=1 build/tests/metrics_test "
      "--gtest_filter=MetricTableTest.*`.\n\n"
      "Units are base units. Labels come from closed sets and never name a "
      "trial, an attempt or a seed: their values live in the\ndatabase "
      "(`docs/sql_schema.md`). At most " +
      std::to_string(kMostCellSeries) +
      " series are about cells. Counters begin at 0 with the process.\n\n"
      "| metric | type | what it says | labels |\n"
      "| --- | --- | --- | --- |\n";
  for (const MetricDefinition& metric : MetricTable()) page += RowOf(metric);
  return page;
}

}  // namespace leadline::metrics
