#include "cli/attempt_rows.h"
#include "cli/explanation_view.h"
#include "common/experiment.h"

namespace leadline::cli {
namespace {

Json LiveJson(const v1::LiveAttemptNow& live) {
  return {{"attempt", live.attempt()},
          {"number", live.number()},
          {"node", live.node()},
          {"device", live.device()},
          {"devices", std::vector<std::string>(live.devices().begin(),
                                               live.devices().end())},
          {"started_at", live.started_at()},
          {"state", live.state()},
          {"lease_seconds", JsonNumber(live.lease_seconds())},
          {"given_up_in_seconds", JsonOptional(live.has_given_up_in_seconds(),
                                               live.given_up_in_seconds())},
          {"last_record_seconds", JsonOptional(live.has_last_record_seconds(),
                                               live.last_record_seconds())},
          {"step", live.step()},
          {"steps", live.steps()},
          {"tokens_per_second", JsonNumber(live.tokens_per_second())},
          {"waiting_for", live.waiting_for()},
          {"stop_reason", live.stop_reason()},
          {"trials", live.trials()},
          {"first_trial", live.first_trial()},
          {"ranks", RanksJson(live.ranks())}};
}

Json TrialJson(const v1::TrialExplanation& trial) {
  Json orphans = Json::array();
  for (const v1::OrphanSummary& orphan : trial.orphans()) {
    orphans.push_back({{"attempt", orphan.attempt()},
                       {"sequence", orphan.sequence()},
                       {"text", orphan.text()}});
  }
  return {
      {"trial", trial.trial()},
      {"sweep", trial.sweep()},
      {"sweep_state", trial.sweep_state()},
      {"state", trial.state()},
      {"reason", trial.reason()},
      {"summary", trial.summary()},
      {"cohort", trial.cohort()},
      {"cohort_trials", std::vector<std::string>(trial.cohort_trials().begin(),
                                                 trial.cohort_trials().end())},
      {"began", trial.began()},
      {"waiting_for", trial.waiting_for()},
      {"retry_in_seconds",
       JsonOptional(trial.has_retry_in_seconds(), trial.retry_in_seconds())},
      {"retry_at",
       JsonOptional(trial.has_retry_in_seconds(), trial.retry_at())},
      {"failures", trial.failures()},
      {"tries", JsonOptional(trial.tries() > 0, trial.tries())},
      {"failures_in_total", trial.failures_in_total()},
      {"tries_in_total",
       JsonOptional(trial.tries() > 0, trial.tries_in_total())},
      {"live", trial.has_live() ? LiveJson(trial.live()) : Json(nullptr)},
      {"attempt_list", AttemptsJson(trial.attempts())},
      {"attempts_left_out", trial.attempts_left_out()},
      {"orphans", orphans},
      {"orphan_records", trial.orphan_records()},
      {"validation_loss",
       JsonOptional(trial.has_result(), trial.result().validation_loss())},
      {"result_attempt",
       JsonOptional(trial.has_result(), trial.result_attempt())}};
}

Json SweepJson(const v1::SweepExplanation& sweep) {
  Json trials = Json::object();
  for (const TrialState state : kTrialStates) {
    const auto found = sweep.trials().find(std::string(Name(state)));
    trials[std::string(Name(state))] =
        found == sweep.trials().end() ? 0 : found->second;
  }
  Json waiting = Json::array();
  for (const v1::WaitingTrials& group : sweep.waiting()) {
    waiting.push_back(
        {{"state", group.state()},
         {"reason", group.reason()},
         {"trials", group.trials()},
         {"first", group.first()},
         {"retry_in_seconds",
          JsonOptional(group.has_retry_in_seconds(), group.retry_in_seconds())},
         {"retry_at",
          JsonOptional(group.has_retry_in_seconds(), group.retry_at())}});
  }
  Json running = Json::array();
  for (const auto& live : sweep.running()) running.push_back(LiveJson(live));
  Json ended = Json::array();
  for (const v1::EndedTrials& group : sweep.ended()) {
    ended.push_back({{"state", group.state()},
                     {"reason", group.reason()},
                     {"began", group.began()},
                     {"trials", group.trials()},
                     {"first", group.first()}});
  }
  Json failures = Json::array();
  for (const v1::FailuresOfKind& one : sweep.failures()) {
    failures.push_back({{"kind", one.kind()},
                        {"attempts", one.attempts()},
                        {"trials", one.trials()}});
  }
  return {{"sweep", sweep.sweep()},
          {"name", sweep.name()},
          {"state", sweep.state()},
          {"summary", sweep.summary()},
          {"trials", trials},
          {"planned", sweep.planned()},
          {"live_agents", sweep.live_agents()},
          {"waiting", waiting},
          {"waiting_left_out", sweep.waiting_left_out()},
          {"running", running},
          {"running_left_out", sweep.running_left_out()},
          {"ended", ended},
          {"ended_left_out", sweep.ended_left_out()},
          {"failures", failures},
          {"orphan_attempts", sweep.orphan_attempts()},
          {"orphan_records", sweep.orphan_records()}};
}

}  // namespace

Json ExplanationJson(const v1::ExplainReply& reply) {
  return reply.has_trial() ? TrialJson(reply.trial())
                           : SweepJson(reply.sweep());
}

}  // namespace leadline::cli
