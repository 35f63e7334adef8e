#include "coordinator/rpc/results_convert.h"

#include <vector>

#include <nlohmann/json.hpp>

#include "common/utf8_prefix.h"
#include "coordinator/analysis/statistics.h"
#include "coordinator/rpc/convert.h"

namespace leadline::rpc {
namespace {

// So that pages of summaries stay far below the limit of a message.
constexpr size_t kLongestText = 2000;

std::string Short(const std::string& text) {
  return std::string(Utf8Prefix(text, kLongestText));
}

int64_t Count(const storage::SweepRow& row, TrialState state) {
  return row.trials[static_cast<size_t>(state)];
}

void CopyAxes(const std::string& axes_json, v1::CellResult& cell) {
  const auto axes = nlohmann::json::parse(axes_json, nullptr, false);
  if (!axes.is_object()) return;
  for (const auto& [axis, value] : axes.items()) {
    (*cell.mutable_axes())[axis] =
        value.is_string() ? value.get<std::string>() : value.dump();
  }
}

void CopySummary(const analysis::Summary& summary, v1::CellResult& cell) {
  cell.set_n(summary.n);
  if (summary.mean) cell.set_mean(*summary.mean);
  if (summary.sd) cell.set_sd(*summary.sd);
  if (summary.min) cell.set_min(*summary.min);
  if (summary.max) cell.set_max(*summary.max);
}

}  // namespace

v1::SweepSummary SummaryOf(const storage::SweepRow& row) {
  using enum TrialState;
  v1::SweepSummary summary;
  summary.set_sweep(ToText(row.sweep.id));
  summary.set_name(Short(row.sweep.name));
  summary.set_state(std::string(Name(row.sweep.state)));
  summary.set_submitted_at(storage::ToText(row.sweep.submitted_at));
  summary.set_user(Short(row.sweep.user));
  summary.set_cells(row.cells);
  int64_t trials = 0;
  for (const int64_t count : row.trials) trials += count;
  summary.set_trials(trials);
  summary.set_succeeded(Count(row, kSucceeded));
  summary.set_diverged(Count(row, kDiverged));
  summary.set_failed(Count(row, kFailed));
  summary.set_cancelled(Count(row, kCancelled));
  summary.set_running(Count(row, kLeased) + Count(row, kRunning) +
                      Count(row, kUnreachable));
  summary.set_queued(Count(row, kQueued) + Count(row, kSuspended));
  summary.set_description(Short(row.sweep.description));
  summary.set_never_began(row.never_began);
  summary.set_suspended(Count(row, kSuspended));
  if (row.sweep.archived_at) {
    summary.set_archived_at(storage::ToText(*row.sweep.archived_at));
  }
  summary.set_note(Short(row.sweep.note));
  for (const std::string& tag : row.sweep.tags) summary.add_tags(tag);
  return summary;
}

v1::TrialSummary SummaryOf(const storage::TrialRow& row) {
  v1::TrialSummary summary;
  summary.set_trial(ToText(row.trial.id));
  summary.set_cell(ToText(row.cell.id));
  summary.set_seed(row.trial.seed);
  summary.set_depth(row.cell.depth);
  summary.set_dataset(Short(row.cell.dataset_label));
  summary.set_method(Short(row.cell.method_label));
  summary.set_state(std::string(Name(row.trial.state)));
  summary.set_reason(Short(row.trial.reason));
  summary.set_attempts(row.attempts);
  if (row.validation_loss) summary.set_validation_loss(*row.validation_loss);
  if (row.failed_kind) {
    summary.set_failed_kind(std::string(Name(*row.failed_kind)));
  }
  return summary;
}

v1::AttemptSummary SummaryOf(const storage::AttemptRecord& attempt,
                             const TrialId& trial) {
  v1::AttemptSummary summary;
  summary.set_attempt(ToText(trial) + "@" + std::to_string(attempt.key.number));
  summary.set_cohort(ToText(attempt.key.cohort));
  summary.set_node(Short(attempt.node));
  summary.set_device(Short(attempt.device));
  summary.set_started_at(storage::ToText(attempt.started_at));
  if (attempt.ended_at) {
    summary.set_ended_at(storage::ToText(*attempt.ended_at));
  }
  summary.set_outcome(std::string(Name(attempt.outcome)));
  if (attempt.kind) summary.set_kind(std::string(Name(*attempt.kind)));
  summary.set_message(Short(attempt.message));
  summary.set_numerics(Short(attempt.numerics));
  summary.set_threads(attempt.threads);
  summary.set_step(attempt.step);
  summary.set_stop_reason(Short(attempt.stop_reason));
  for (const storage::RankRecord& rank : attempt.ranks) {
    *summary.add_ranks() = ToProto(rank, summary.ranks_size());
  }
  return summary;
}

v1::TrialResult ResultOf(const storage::ResultRecord& result) {
  v1::TrialResult message;
  message.set_validation_loss(result.validation_loss);
  if (result.test_loss) message.set_test_loss(*result.test_loss);
  if (result.best_validation_loss) {
    message.set_best_validation_loss(*result.best_validation_loss);
  }
  if (result.best_step) message.set_best_step(*result.best_step);
  message.set_unit(result.unit);
  message.set_steps(result.steps);
  message.set_tokens(result.tokens);
  message.set_seconds(result.seconds);
  message.set_peak_bytes(result.peak_bytes);
  message.set_parameters(result.parameters);
  message.set_determinism(std::string(Name(result.determinism)));
  return message;
}

v1::RoutingReply ReplyOf(const storage::RoutingRecord& routing) {
  v1::RoutingReply reply;
  reply.set_trial(ToText(routing.trial));
  reply.set_step(routing.step);
  for (const storage::RouterRow& row : routing.map) {
    v1::RouterRow& router = *reply.add_map();
    router.set_router(reply.map_size() - 1);
    for (const std::string& source : row.sources) router.add_sources(source);
    router.mutable_weights()->Add(row.weights.begin(), row.weights.end());
  }
  for (const auto& [name, values] : routing.statistics) {
    v1::NamedVector& statistic = *reply.add_statistics();
    statistic.set_name(name);
    statistic.mutable_values()->Add(values.begin(), values.end());
  }
  return reply;
}

v1::CellResult ResultOf(const storage::CellValues& values,
                        const std::string& split) {
  const storage::CellRecord& record = values.cell;
  v1::CellResult cell;
  cell.set_cell(ToText(record.id));
  cell.set_depth(record.depth);
  cell.set_dataset(record.dataset_label);
  cell.set_method(record.method_label);
  cell.set_planned(values.planned);
  cell.set_diverged(values.diverged);
  cell.set_failed(values.failed);
  const auto& floor =
      split == "test" ? record.test_floor : record.validation_floor;
  if (floor) cell.set_floor(*floor);
  std::vector<double> losses;
  losses.reserve(values.values.size());
  for (const storage::SeedValue& value : values.values) {
    losses.push_back(value.value);
    if (cell.values_size() == kMostSeedValues) continue;
    v1::SeedValue& seed = *cell.add_values();
    seed.set_trial(ToText(value.trial));
    seed.set_seed(value.seed);
    seed.set_value(value.value);
  }
  CopySummary(analysis::Summarise(losses), cell);
  CopyAxes(record.axes_json, cell);
  return cell;
}

}  // namespace leadline::rpc
