#include "oracle.h"

#include <algorithm>
#include <string_view>
#include <variant>

namespace leadline::simulation {
namespace {

// Nearly a lease and its grace.
constexpr std::chrono::seconds kGivenUpAfter{44};

[[noreturn]] void Fail(const std::string& what) { throw Violation(what); }

}  // namespace

double MarkedLoss(const AttemptKey& attempt, int64_t step) {
  return static_cast<double>(attempt.number) +
         1.0 / static_cast<double>(step + 2);
}

double TrueLoss(const CellId& cell, int64_t seed) {
  return 1 + 0.1 * static_cast<double>(cell.number) +
         0.01 * static_cast<double>(seed);
}

void Oracle::OnCommitted(std::span<const storage::Change> changes) {
  for (const storage::Change& change : changes) {
    std::visit([this](const auto& what) { On(what); }, change);
  }
  failures_.OnCommitted(changes);
}

void Oracle::On(const storage::AddSweep& change) {
  if (!sweeps_.emplace(change.sweep.id, change.sweep.state).second) {
    Fail("sweep " + ToText(change.sweep.id) + " was added twice");
  }
  for (const storage::TrialRecord& trial : change.trials) {
    trials_[trial.id] = {trial.state, trial.cohort, 0, false, {}};
  }
}

void Oracle::On(const storage::MoveSweep& change) {
  SweepState& state = sweeps_.at(change.sweep);
  if (state != change.from) {
    Fail("sweep " + ToText(change.sweep) + " moved from " +
         std::string(Name(change.from)) + " and was " +
         std::string(Name(state)));
  }
  state = change.to;
  const bool is_over =
      state == SweepState::kComplete || state == SweepState::kCancelled;
  if (is_over && errands_[change.sweep] > 0) {
    Fail("sweep " + ToText(change.sweep) + " is " +
         std::string(Name(change.to)) + " while something is being done to it");
  }
  if (change.to != SweepState::kComplete) return;
  for (const auto& [id, trial] : trials_) {
    if (id.cell.sweep == change.sweep && !IsEnded(trial.state)) {
      Fail("sweep " + ToText(change.sweep) + " is complete without trial " +
           ToText(id));
    }
  }
}

void Oracle::On(const storage::RemoveSweep& change) {
  const SweepState state = sweeps_.at(change.sweep);
  if (state != SweepState::kComplete && state != SweepState::kCancelled) {
    Fail("sweep " + ToText(change.sweep) + " was removed and is " +
         std::string(Name(state)));
  }
  removed_.insert(change.sweep);
  promised_.erase(change.sweep);
}

void Oracle::On(const storage::MoveTrial& change) {
  TrialAccount& trial = trials_.at(change.trial);
  if (trial.state != change.from || !IsLegalMove(change.from, change.to)) {
    Fail("trial " + ToText(change.trial) + " moved from " +
         std::string(Name(trial.state)) + " to " +
         std::string(Name(change.to)));
  }
  trial.state = change.to;
  if (IsEnded(change.from)) {
    to_be_queued_.erase(change.trial);
    --trial.ends;
    trial.retried = true;
  }
  if (!IsEnded(change.to)) return;
  if (++trial.ends > 1) Fail("trial " + ToText(change.trial) + " ended twice");
  if (change.to == TrialState::kSucceeded && !trial.result_of) {
    Fail("trial " + ToText(change.trial) + " succeeded without a result");
  }
}

void Oracle::On(const storage::StartAttempt& change) {
  const AttemptKey& key = change.attempt.key;
  for (const AttemptKey& other : live_) {
    if (other.cohort == key.cohort) {
      Fail("attempt " + ToText(key) + " started while " + ToText(other) +
           " is live");
    }
  }
  bool open = false;
  for (const auto& [id, trial] : trials_) {
    open = open || (trial.cohort == key.cohort && !IsEnded(trial.state));
  }
  if (!open) Fail("attempt " + ToText(key) + " has nothing left to do");
  const SweepState state = sweeps_.at(key.cohort.cell.sweep);
  if (state != SweepState::kActive) {
    Fail("attempt " + ToText(key) + " starts, and its sweep is " +
         std::string(Name(state)));
  }
  if (errands_[key.cohort.cell.sweep] > 0) {
    Fail("attempt " + ToText(key) +
         " starts while something is being done to its sweep");
  }
  known_[key] = 0;
  sizes_[key] = std::ssize(change.attempt.ranks);
  if (sizes_[key] < 1) Fail("attempt " + ToText(key) + " has no rank");
  live_.insert(key);
}

void Oracle::On(const storage::EndAttempt& change) {
  DemandLive(change.attempt, "ended");
  if (change.outcome == AttemptOutcome::kFailed &&
      finished_.contains(change.attempt)) {
    Fail("attempt " + ToText(change.attempt) +
         " did all its work and is stored as failed: " + change.message);
  }
  if (change.outcome == AttemptOutcome::kFailed &&
      asked_to_stop_.contains(change.attempt)) {
    Fail("attempt " + ToText(change.attempt) +
         " was asked to stop and counts as failed");
  }
  DemandSilence(change);
  const auto evidence = evidence_.find(change.attempt);
  if (change.outcome == AttemptOutcome::kFailed &&
      evidence != evidence_.end() && evidence->second &&
      change.kind != evidence->second && change.kind != FailureKind::kHang) {
    Fail("attempt " + ToText(change.attempt) + " failed by " +
         std::string(Name(*evidence->second)) + " and is stored as " +
         std::string(Name(*change.kind)));
  }
  live_.erase(change.attempt);
}

/// One that was given up for its silence was silent for a lease and its grace.
void Oracle::DemandSilence(const storage::EndAttempt& end) const {
  constexpr std::string_view kGivenUp = "agent_lost: node ";
  if (end.outcome != AttemptOutcome::kSuperseded ||
      !end.message.starts_with(kGivenUp)) {
    return;
  }
  const std::string rest = end.message.substr(kGivenUp.size());
  const auto renewed =
      renewed_.find({end.attempt, rest.substr(0, rest.find(' '))});
  if (renewed == renewed_.end()) return;
  if (clockwork_.now() - renewed->second < kGivenUpAfter) {
    Fail("attempt " + ToText(end.attempt) +
         " was given up though it was heard a moment ago");
  }
}

void Oracle::On(const storage::DescribeAttempt& change) {
  DemandLive(change.attempt.key, "described");
}

void Oracle::On(const storage::AskToStop& change) {
  DemandLive(change.attempt, "asked to stop");
  asked_to_stop_.insert(change.attempt);
}

void Oracle::On(const storage::Acknowledge& change) {
  DemandLive(change.attempt, "acknowledged");
  int64_t& last = known_.at(change.attempt);
  last = std::max(last, change.sequence);
}

void Oracle::On(const storage::AddPoints& change) {
  DemandLive(change.attempt, "wrote points");
  for (const storage::Point& point : change.points) {
    if (point.metric != "train_loss") continue;
    if (point.value != MarkedLoss(change.attempt, point.step)) {
      Fail("a point of trial " + ToText(point.trial) + " at step " +
           std::to_string(point.step) + " is stored as of attempt " +
           ToText(change.attempt) + ", which did not measure it");
    }
  }
}

void Oracle::On(const storage::AddRouting& change) {
  DemandLive(change.attempt, "wrote routing");
}

void Oracle::On(const storage::AddWindows& change) {
  DemandLive(change.attempt, "wrote windows");
}

void Oracle::On(const storage::AddResult& change) {
  const storage::ResultRecord& result = change.result;
  DemandLive(result.attempt, "wrote a result");
  if (result.tokens != result.attempt.number) {
    Fail("the result of trial " + ToText(result.trial) +
         " is stored as of attempt " + ToText(result.attempt) +
         " and comes from number " + std::to_string(result.tokens));
  }
  if (lost_a_rank_.contains(result.attempt)) {
    Fail("a result of attempt " + ToText(result.attempt) +
         " is taken, and it lost a rank before it had one");
  }
  TrialAccount& trial = trials_.at(result.trial);
  if (trial.result_of) {
    Fail("trial " + ToText(result.trial) + " has two results");
  }
  trial.result_of = result.attempt;
}

void Oracle::On(const storage::KeepOrphan& change) {
  orphans_[change.record.attempt].insert(change.record.sequence);
}

void Oracle::DemandLive(const AttemptKey& attempt, const char* doing) const {
  if (!live_.contains(attempt)) {
    Fail("attempt " + ToText(attempt) + " " + doing + " and is not live");
  }
}

void Oracle::OnAcknowledged(const AttemptKey& attempt, int64_t sequence) const {
  const auto known = known_.find(attempt);
  if (known == known_.end()) return;  // of another database: nowhere to keep
  // What a removed sweep's attempts still say is of no use to anybody.
  if (removed_.contains(attempt.cohort.cell.sweep)) return;
  if (known->second >= sequence) return;
  const auto orphans = orphans_.find(attempt);
  if (orphans != orphans_.end() && orphans->second.contains(sequence)) return;
  Fail("record " + std::to_string(sequence) + " of attempt " + ToText(attempt) +
       " was acknowledged and is not stored");
}

void Oracle::OnEndAcknowledged(const AttemptKey& attempt) const {
  if (live_.contains(attempt)) {
    Fail("the end of attempt " + ToText(attempt) +
         " was acknowledged and is not stored");
  }
}

void Oracle::OnSubmitted(SweepId sweep) {
  if (!sweeps_.contains(sweep)) {
    Fail("sweep " + ToText(sweep) + " was confirmed and is not stored");
  }
  // A late answer may be older than the removal.
  if (!removed_.contains(sweep)) promised_.insert(sweep);
}

void Oracle::OnCancelled(const std::variant<SweepId, CellId, TrialId>& target) {
  using Target = std::variant<SweepId, CellId, TrialId>;
  for (const auto& [id, trial] : trials_) {
    const bool meant = target == Target{id} || target == Target{id.cell} ||
                       target == Target{id.cell.sweep};
    // A late answer may be older than a retry.
    if (meant && !trial.retried && !IsEnded(trial.state)) {
      Fail("trial " + ToText(id) + " was confirmed as cancelled and is " +
           std::string(Name(trial.state)));
    }
  }
}

void Oracle::OnLoaded(const storage::Store& store) const {
  failures_.OnLoaded(store);
  for (const SweepId& sweep : removed_) {
    if (!absl::IsNotFound(store.LoadSweep(sweep).status())) {
      Fail("sweep " + ToText(sweep) + " was removed and is there");
    }
  }
  for (const SweepId& sweep : promised_) {
    const auto loaded = store.LoadSweep(sweep);
    if (!loaded.ok()) {
      Fail("sweep " + ToText(sweep) + " was confirmed and is gone: " +
           std::string(loaded.status().message()));
    }
    for (const storage::TrialRecord& trial : loaded->trials) {
      if (trial.state != trials_.at(trial.id).state) {
        Fail("trial " + ToText(trial.id) + " was " +
             std::string(Name(trials_.at(trial.id).state)) +
             " and is stored as " + std::string(Name(trial.state)));
      }
    }
    for (const storage::AttemptRecord& attempt : loaded->live) {
      if (attempt.last_sequence != known_.at(attempt.key)) {
        Fail("records of attempt " + ToText(attempt.key) + " are gone");
      }
    }
  }
}

bool Oracle::AllEnded() const {
  return std::ranges::all_of(
      trials_, [](const auto& entry) { return IsEnded(entry.second.state); });
}

void Oracle::CheckAllEnded(int64_t sweeps) const {
  if (std::ssize(sweeps_) != sweeps) {
    Fail(std::to_string(sweeps) + " sweeps were submitted, and there are " +
         std::to_string(sweeps_.size()));
  }
  for (const auto& [id, trial] : trials_) {
    if (!IsEnded(trial.state)) {
      Fail("trial " + ToText(id) + " is " + std::string(Name(trial.state)) +
           " long after the last fault");
    }
  }
  for (const auto& [id, state] : sweeps_) {
    if (state != SweepState::kComplete && state != SweepState::kCancelled) {
      Fail("sweep " + ToText(id) + " is " + std::string(Name(state)) +
           " though all its trials have ended");
    }
  }
  for (const auto& [id, errands] : errands_) {
    if (errands > 0) {
      Fail("what was begun with sweep " + ToText(id) + " was never done");
    }
  }
  if (!live_.empty()) {
    Fail("attempt " + ToText(*live_.begin()) + " never ended");
  }
}

}  // namespace leadline::simulation
