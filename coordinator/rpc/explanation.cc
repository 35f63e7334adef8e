#include "coordinator/rpc/explanation.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/utf8_prefix.h"
#include "coordinator/rpc/convert.h"
#include "coordinator/rpc/explanation_text.h"
#include "coordinator/rpc/results_convert.h"

namespace leadline::rpc {
namespace {

constexpr int64_t kMostEnded = 50;        // groups
constexpr int64_t kMostOrphans = 20;      // of a trial
constexpr int64_t kMostOrphansOfOne = 5;  // attempt
constexpr size_t kLongestText = 2000;

std::string Short(const std::string& text) {
  return std::string(Utf8Prefix(text, kLongestText));
}

std::string WallText(storage::WallTime now, control::Seconds later) {
  return storage::ToText(
      now + std::chrono::duration_cast<storage::WallTime::duration>(later));
}

v1::LiveAttemptNow ToProto(const control::LiveNow& now) {
  v1::LiveAttemptNow live;
  live.set_attempt(ToText(now.record.key));
  live.set_number(now.record.key.number);
  live.set_node(now.record.node);
  for (const std::string& device : now.record.devices) {
    live.add_devices(device);
  }
  live.set_started_at(storage::ToText(now.record.started_at));
  live.set_state(std::string(Name(now.state)));
  live.set_lease_seconds(now.lease_left.count());
  if (now.given_up_in) live.set_given_up_in_seconds(now.given_up_in->count());
  if (now.since_record) live.set_last_record_seconds(now.since_record->count());
  live.set_step(now.step);
  live.set_steps(now.steps);
  live.set_tokens_per_second(now.tokens_per_second);
  live.set_waiting_for(Short(now.waiting_for));
  live.set_stop_reason(Short(now.record.stop_reason));
  live.set_trials(now.trials);
  live.set_first_trial(ToText(now.first));
  for (const storage::RankRecord& rank : now.record.ranks) {
    *live.add_ranks() = rpc::ToProto(rank, live.ranks_size());
  }
  return live;
}

void AddWaiting(const control::Explanation& now,
                v1::SweepExplanation& message) {
  for (const control::WaitNow& wait : now.waiting) {
    v1::WaitingTrials& group = *message.add_waiting();
    group.set_state(std::string(Name(wait.state)));
    group.set_reason(Short(wait.reason));
    group.set_trials(wait.trials);
    group.set_first(ToText(wait.first));
    if (!wait.retry_in) continue;
    group.set_retry_in_seconds(wait.retry_in->count());
    group.set_retry_at(WallText(now.now, *wait.retry_in));
  }
  message.set_waiting_left_out(now.waiting_left_out);
}

absl::Status AddPast(const storage::StoreReader& reader, SweepId sweep,
                     v1::SweepExplanation& message) {
  const auto groups = reader.ListEnded(sweep, kMostEnded);
  if (!groups.ok()) return groups.status();
  int64_t listed = 0;
  for (const storage::EndedGroup& group : *groups) {
    v1::EndedTrials& ended = *message.add_ended();
    ended.set_state(std::string(Name(group.state)));
    ended.set_reason(Short(group.reason));
    ended.set_began(group.began);
    ended.set_trials(group.trials);
    ended.set_first(ToText(group.first));
    listed += group.trials;
  }
  int64_t all = 0;
  for (const TrialState state :
       {TrialState::kFailed, TrialState::kCancelled, TrialState::kDiverged}) {
    all += message.trials().at(std::string(Name(state)));
  }
  message.set_ended_left_out(std::max<int64_t>(0, all - listed));
  const auto failures = reader.CountFailures(sweep);
  if (!failures.ok()) return failures.status();
  for (const storage::FailureCount& count : *failures) {
    v1::FailuresOfKind& one = *message.add_failures();
    one.set_kind(std::string(Name(count.kind)));
    one.set_attempts(count.attempts);
    one.set_trials(count.trials);
  }
  const auto orphans = reader.SweepOrphans(sweep);
  if (!orphans.ok()) return orphans.status();
  message.set_orphan_attempts(orphans->attempts);
  message.set_orphan_records(orphans->records);
  return absl::OkStatus();
}

absl::StatusOr<v1::SweepExplanation> ExplainSweep(
    const storage::StoreReader& reader, SweepId sweep,
    const std::optional<control::Explanation>& now) {
  const auto row = reader.GetSweep(sweep);
  if (!row.ok()) return row.status();
  v1::SweepExplanation message;
  message.set_sweep(ToText(sweep));
  message.set_name(Short(row->sweep.name));
  message.set_state(std::string(Name(row->sweep.state)));
  int64_t planned = 0;
  for (const TrialState state : kTrialStates) {
    const int64_t count = row->trials[static_cast<size_t>(state)];
    (*message.mutable_trials())[std::string(Name(state))] = count;
    planned += count;
  }
  message.set_planned(planned);
  if (now) {
    message.set_live_agents(now->live_agents);
    AddWaiting(*now, message);
    for (const control::LiveNow& live : now->running) {
      *message.add_running() = ToProto(live);
    }
    message.set_running_left_out(now->running_left_out);
  }
  const absl::Status past = AddPast(reader, sweep, message);
  if (!past.ok()) return past;
  message.set_summary(SummaryOf(message, now ? now->waiting_for : ""));
  return message;
}

absl::Status AddOrphans(const storage::StoreReader& reader,
                        const storage::TrialRow& row,
                        const std::map<int64_t, int64_t>& counts,
                        v1::TrialExplanation& message) {
  for (const auto& [number, records] : counts) {
    message.set_orphan_records(message.orphan_records() + records);
    const int64_t room =
        std::min(kMostOrphansOfOne, kMostOrphans - message.orphans_size());
    if (room <= 0) continue;
    const auto orphans =
        reader.ListOrphans({row.trial.cohort, number}, -1, room);
    if (!orphans.ok()) return orphans.status();
    for (const storage::OrphanRecord& orphan : *orphans) {
      v1::OrphanSummary& summary = *message.add_orphans();
      summary.set_attempt(ToText(row.trial.id) + "@" + std::to_string(number));
      summary.set_sequence(orphan.sequence);
      summary.set_text(Short(orphan.text));
    }
  }
  return absl::OkStatus();
}

absl::Status AddPast(const storage::StoreReader& reader,
                     const storage::TrialRow& row,
                     v1::TrialExplanation& message) {
  const auto cohort = reader.CohortTrials(row.trial.cohort);
  if (!cohort.ok()) return cohort.status();
  for (const storage::TrialRecord& one : *cohort) {
    message.add_cohort_trials(ToText(one.id));
  }
  const auto attempts = reader.ListAttempts(row.trial.cohort);
  if (!attempts.ok()) return attempts.status();
  const auto orphans = reader.CohortOrphans(row.trial.cohort);
  if (!orphans.ok()) return orphans.status();
  message.set_attempts_left_out(
      AddNewest(*attempts, *orphans, row.trial.id, message));
  message.set_began(!attempts->empty());
  const auto result = reader.FindResult(row.trial.id);
  if (!result.ok()) return result.status();
  if (*result) {
    *message.mutable_result() = ResultOf(**result);
    message.set_result_attempt(ToText(row.trial.id) + "@" +
                               std::to_string((*result)->attempt.number));
  }
  return AddOrphans(reader, row, *orphans, message);
}

void AddFuture(const control::Explanation& now, v1::TrialExplanation& message) {
  const control::TrialNow& trial = *now.trial;
  message.set_sweep_state(std::string(Name(now.state)));
  message.set_state(std::string(Name(trial.record.state)));
  message.set_reason(Short(trial.record.reason));
  message.set_failures(trial.cohort.failures_in_row);
  message.set_tries(now.tries);
  message.set_failures_in_total(trial.cohort.failures);
  message.set_tries_in_total(now.tries_in_total);
  if (trial.wait) {
    message.set_waiting_for(Short(trial.wait->reason));
    if (trial.wait->retry_in) {
      message.set_retry_in_seconds(trial.wait->retry_in->count());
      message.set_retry_at(WallText(now.now, *trial.wait->retry_in));
    }
  }
  if (!trial.live) return;
  *message.mutable_live() = ToProto(*trial.live);
  // Only the store knows what its trainer said of itself.
  for (const v1::AttemptSummary& attempt : message.attempts()) {
    if (attempt.outcome() == Name(AttemptOutcome::kLive)) {
      message.mutable_live()->set_device(attempt.device());
    }
  }
}

absl::StatusOr<v1::TrialExplanation> ExplainTrial(
    const storage::StoreReader& reader, const TrialId& trial,
    const std::optional<control::Explanation>& now) {
  const auto row = reader.GetTrial(trial);
  if (!row.ok()) return row.status();
  const auto sweep = reader.GetSweep(trial.cell.sweep);
  if (!sweep.ok()) return sweep.status();
  v1::TrialExplanation message;
  message.set_trial(ToText(trial));
  message.set_sweep(ToText(trial.cell.sweep));
  message.set_sweep_state(std::string(Name(sweep->sweep.state)));
  message.set_state(std::string(Name(row->trial.state)));
  message.set_reason(Short(row->trial.reason));
  message.set_cohort(ToText(row->trial.cohort));
  const absl::Status past = AddPast(reader, *row, message);
  if (!past.ok()) return past;
  // What has ended since control was asked has no future.
  if (now && now->trial && !IsEnded(row->trial.state)) AddFuture(*now, message);
  message.set_summary(SummaryOf(message));
  return message;
}

}  // namespace

absl::StatusOr<v1::ExplainReply> ExplainWith(
    const storage::StoreReader& reader, const control::Target& target,
    const std::optional<control::Explanation>& now) {
  v1::ExplainReply reply;
  if (const auto* trial = std::get_if<TrialId>(&target)) {
    auto explained = ExplainTrial(reader, *trial, now);
    if (!explained.ok()) return explained.status();
    *reply.mutable_trial() = *std::move(explained);
    return reply;
  }
  auto explained = ExplainSweep(reader, std::get<SweepId>(target), now);
  if (!explained.ok()) return explained.status();
  *reply.mutable_sweep() = *std::move(explained);
  return reply;
}

}  // namespace leadline::rpc
