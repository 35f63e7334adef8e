#include "coordinator/rpc/sweep_convert.h"

#include <string>
#include <utility>

#include "model/spec/dataset_table.h"

namespace leadline::rpc {
namespace {

storage::DatasetRecord ToRecord(const spec::Dataset& dataset) {
  return {dataset.name,      dataset.path,  dataset.content_hash,
          dataset.tokenizer, dataset.split, dataset.vocabulary};
}

/// Floors are known of registered data sets, of the very bytes and split.
const spec::DatasetInfo* KnownFloors(const spec::Dataset& dataset) {
  const spec::DatasetInfo* info = spec::FindDataset(dataset.name);
  const bool same = info && info->content_hash == dataset.content_hash &&
                    info->tokenizer == dataset.tokenizer &&
                    info->split == dataset.split;
  return same ? info : nullptr;
}

control::NewCell ToNewCell(const sweep::PlannedCell& cell, int64_t seeds) {
  control::NewCell value;
  storage::CellRecord& record = value.record;
  record.hash = cell.hash;
  record.settings_json = cell.settings_json;
  record.axes_json = cell.axes_json;
  record.depth = cell.depth;
  record.dataset_label = cell.dataset_label;
  record.method_label = cell.method_label;
  record.dataset = ToRecord(cell.dataset);
  record.unit = cell.dataset.tokenizer == "byte" ? "nats/byte" : "nats/char";
  record.steps = cell.steps;
  if (const spec::DatasetInfo* info = KnownFloors(cell.dataset)) {
    record.validation_floor = info->validation_floor;
    record.test_floor = info->test_floor;
  }
  for (const sweep::CohortSeeds& cohort :
       sweep::SplitIntoCohorts(seeds, cell.cohort_size)) {
    value.cohort_sizes.push_back(cohort.count);
  }
  value.needs = control::CellNeeds{cell.devices, cell.threads, cell.flops};
  return value;
}

template <typename Counts>
void CopyCounts(const Counts& counts, v1::Progress& progress) {
  for (const TrialState state : kTrialStates) {
    (*progress.mutable_trials())[std::string(Name(state))] =
        counts[static_cast<size_t>(state)];
  }
}

bool IsEnd(SweepState state) {
  return state == SweepState::kComplete || state == SweepState::kCancelled;
}

v1::TrialFailure ToProto(const control::Failure& failure) {
  v1::TrialFailure message;
  message.set_trial(ToText(failure.trial));
  message.set_attempt(ToText(failure.trial) + "@" +
                      std::to_string(failure.attempt.number));
  message.set_kind(std::string(Name(failure.kind)));
  message.set_message(failure.message);
  message.set_is_final(failure.is_final);
  return message;
}

}  // namespace

control::NewSweep ToNewSweep(const sweep::Sweep& sweep, const sweep::Plan& plan,
                             const v1::SubmitRequest& request) {
  control::NewSweep value;
  value.sweep.name = sweep.name;
  value.sweep.description = sweep.description;
  value.sweep.user = request.user();
  value.sweep.source = request.text();
  value.sweep.canonical_hash = sweep::CanonicalHash(sweep);
  value.sweep.priority = sweep.priority;
  value.sweep.parallel_limit = sweep.limits.parallel;
  value.sweep.failure_limit = sweep.limits.failures;
  value.sweep.failure_row_limit = sweep.limits.failures_in_row;
  value.sweep.on_failures = sweep.limits.on_failures;
  value.seeds = plan.seeds;
  for (const sweep::PlannedCell& cell : plan.list) {
    value.cells.push_back(ToNewCell(cell, std::ssize(plan.seeds)));
  }
  return value;
}

v1::PlanCounts ToProto(const sweep::Plan& plan, const std::string& name) {
  v1::PlanCounts message;
  message.set_name(name);
  message.set_cells(plan.cells);
  message.set_trials(plan.trials);
  message.set_seeds(plan.cells > 0 ? plan.trials / plan.cells : 0);
  message.set_excluded(plan.excluded);
  if (plan.duplicates) message.set_duplicates(*plan.duplicates);
  for (const sweep::AxisCount& axis : plan.axes) {
    v1::AxisCount& count = *message.add_axes();
    count.set_key(axis.key);
    count.set_values(axis.values);
  }
  for (const sweep::RuleCount& rule : plan.rules) {
    v1::RuleCount& count = *message.add_rules();
    count.set_rule(rule.rule);
    count.set_cells(rule.cells);
  }
  if (plan.flops) message.set_flops(*plan.flops);
  if (plan.memory_bytes) message.set_memory_bytes(*plan.memory_bytes);
  message.set_cells_listed(plan.cells_listed);
  return message;
}

v1::PlannedCell ToProto(const sweep::PlannedCell& cell, int64_t trials) {
  v1::PlannedCell message;
  message.set_number(cell.number);
  message.set_depth(cell.depth);
  message.set_dataset(cell.dataset_label);
  message.set_method(cell.method_label);
  message.set_trials(trials);
  message.set_parameters(cell.parameters);
  message.set_flops(cell.flops);
  message.set_memory_bytes(cell.memory_bytes);
  message.set_cohort(cell.cohort_size);
  message.set_ranks(cell.devices);
  message.set_threads(cell.threads);
  message.set_without_embedding(cell.without_embedding);
  message.set_hash(cell.hash);
  for (const auto& [key, value] : cell.axes) {
    (*message.mutable_axes())[key] = value;
  }
  return message;
}

v1::Progress ToProto(const control::ProgressReport& report, int64_t told) {
  v1::Progress message;
  message.set_sweep(ToText(report.sweep));
  message.set_name(report.name);
  message.set_state(std::string(Name(report.state)));
  CopyCounts(report.trials, message);
  message.set_planned(report.planned);
  message.set_tokens_per_second(report.tokens_per_second);
  if (report.seconds_left) message.set_seconds_left(*report.seconds_left);
  message.set_ended(IsEnd(report.state));
  message.set_waiting_for(report.waiting_for);
  message.set_can_run(report.can_run);
  message.set_fraction_done(report.fraction_done);
  for (const control::Failure& failure : report.failures) {
    if (failure.number > told) *message.add_failures() = ToProto(failure);
  }
  return message;
}

v1::RetryReply ToProto(const control::RetryAnswer& answer) {
  v1::RetryReply reply;
  int64_t queued = 0;
  for (const control::RetriedTarget& one : answer.targets) {
    v1::RetriedTarget& target = *reply.add_targets();
    target.set_target(
        std::visit([](const auto& id) { return ToText(id); }, one.target));
    target.set_queued(one.queued);
    target.set_failed(one.failed);
    target.set_cancelled(one.cancelled);
    target.set_unfinished(one.unfinished);
    target.set_finished(one.finished);
    queued += one.queued;
  }
  reply.set_queued(queued);
  return reply;
}

void Copy(const control::PauseAnswer& answer, v1::PauseReply& reply) {
  reply.set_changed(answer.changed);
  reply.set_stopping(answer.stopping);
  reply.set_running(answer.running);
  reply.set_waiting(answer.waiting);
}

void Copy(const control::ResumeAnswer& answer, v1::ResumeReply& reply) {
  reply.set_changed(answer.changed);
  reply.set_queued(answer.queued);
  reply.set_waiting(answer.waiting);
}

v1::Progress ToProto(const storage::SweepRow& row) {
  v1::Progress message;
  message.set_sweep(ToText(row.sweep.id));
  message.set_name(row.sweep.name);
  message.set_state(std::string(Name(row.sweep.state)));
  CopyCounts(row.trials, message);
  int64_t planned = 0;
  for (const int64_t count : row.trials) planned += count;
  message.set_planned(planned);
  message.set_ended(true);
  message.set_fraction_done(1);
  return message;
}

}  // namespace leadline::rpc
