#include "coordinator/control/records.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/attempts.h"
#include "coordinator/control/quarantine.h"

namespace leadline::control {
namespace {

/// Kept of one attempt that counts no more; of these the last are reserved for
/// results and ends.
constexpr int64_t kMostLateRecords = 2000;
constexpr int64_t kMostLateFindings = kMostLateRecords + 500;

/// Of one replica; whoever says more is mistaken.
constexpr double kMostTokensOfAStep = 1e9;

/// The names of the curves, in SQL and everywhere.
constexpr char kTrainLoss[] = "train_loss";
constexpr char kGradientNorm[] = "gradient_norm";
constexpr char kClipFactor[] = "clip_factor";
constexpr char kLearningRate[] = "learning_rate";

/// Takes the new records of one live attempt.
class Taker {
 public:
  Taker(Step& step, const AttemptKey& key)
      : step_(step), key_(key), cohort_(*step.state.FindCohort(key.cohort)) {}

  void Take(const TrainerRecord& record) { std::visit(*this, record.body); }

  void operator()(const TrainerOther&) {}

  void operator()(const TrainerStart& start) {
    storage::AttemptRecord about;
    about.key = key_;
    about.version = start.version;
    about.commit = start.commit;
    about.numerics = start.numerics;
    about.libraries = start.libraries;
    about.device = start.device;
    about.threads = start.threads;
    about.parameters = start.parameters;
    step_.Do(storage::DescribeAttempt{std::move(about)});
  }

  void operator()(const TrainerStep& step) {
    LiveAttempt& live = *cohort_.live;
    // What a trainer says is not believed beyond its own plan.
    const int64_t most = step_.state.FindCell(key_.cohort.cell)->record.steps;
    const int64_t reached = std::min(step.step, most);
    CountTokens(step, live.step, reached);
    live.step = std::max(live.step, reached);
    if (!live.first_step_at) live.first_step_at = step_.now.steady;
    live.tokens_per_second = step.tokens_per_second;
    AddCurve(kTrainLoss, step.step, step.train_loss);
    AddCurve(kGradientNorm, step.step, step.gradient_norm);
    AddCurve(kClipFactor, step.step, step.clip_factor);
    AddCurve(kLearningRate, step.step,
             std::vector<double>(cohort_.trials.size(), step.learning_rate));
  }

  void operator()(const TrainerEvaluation& evaluation) {
    AddCurve(evaluation.split + "_loss" + (evaluation.full ? "" : "_fixed"),
             evaluation.step, evaluation.loss);
    for (size_t r = 0; r < evaluation.windows.size(); ++r) {
      const storage::TrialRecord* trial = OpenTrial(r);
      if (!trial || evaluation.windows[r].empty()) continue;
      step_.Do(storage::AddWindows{key_,
                                   {trial->id, evaluation.step,
                                    evaluation.split, evaluation.windows[r]}});
    }
  }

  void operator()(const TrainerRouting& routing) {
    const storage::TrialRecord* trial = OpenTrial(routing.replica);
    if (!trial) return;
    storage::AddRouting add{key_, routing.routing};
    add.routing.trial = trial->id;
    step_.Do(std::move(add));
  }

  void operator()(const TrainerCheckpoint&) {}

  void operator()(const TrainerReplicaEnd& end) {
    const storage::TrialRecord* trial = OpenTrial(end.replica);
    if (!trial || trial->seed != end.seed || !end.diverged) return;
    FlushPoints();
    step_.Move(*trial, TrialState::kDiverged,
               "step " + std::to_string(end.step) + ": " + end.reason);
  }

  void operator()(const TrainerResult& result) {
    const storage::TrialRecord* trial = OpenTrial(result.replica);
    if (!trial || trial->seed != result.seed) return;
    FlushPoints();
    if (!std::isfinite(result.result.validation_loss)) {
      step_.Move(*trial, TrialState::kDiverged,
                 "the validation loss is not finite");
      return;
    }
    storage::AddResult add{result.result};
    add.result.trial = trial->id;
    add.result.attempt = key_;
    const storage::TrialRecord from = *trial;
    step_.Do(std::move(add));
    step_.Move(from, TrialState::kSucceeded, "");
  }

  void operator()(const TrainerEnd& end) { cohort_.live->end = end; }

  void FlushPoints() {
    if (points_.empty()) return;
    step_.Do(storage::AddPoints{key_, std::exchange(points_, {})});
  }

 private:
  /// Null where there is no such replica, its trial has ended (what another
  /// attempt of the cohort computes anew is not news), or it waits for the next
  /// attempt.
  const storage::TrialRecord* OpenTrial(int64_t replica) const {
    if (replica < 0 || replica >= std::ssize(cohort_.trials)) return nullptr;
    const storage::TrialRecord& trial = cohort_.trials[replica];
    return IsHeld(trial.state) ? &trial : nullptr;
  }

  /// Those since the step before. Where a later attempt went on from is not
  /// known until its second record.
  void CountTokens(const TrainerStep& step, int64_t from, int64_t to) {
    if (to <= from || step.step <= 0 || step.tokens <= 0) return;
    if (from == 0 && key_.number > 1) return;
    const double of_a_step = std::min(
        static_cast<double>(step.tokens) / static_cast<double>(step.step),
        kMostTokensOfAStep);
    step_.outcome.tally.tokens[cohort_.live->parts.front().node] +=
        of_a_step *
        static_cast<double>((to - from) * std::ssize(step.train_loss));
  }

  void AddCurve(const std::string& metric, int64_t step,
                const std::vector<double>& values) {
    for (size_t r = 0; r < values.size(); ++r) {
      if (const storage::TrialRecord* trial = OpenTrial(r)) {
        points_.push_back({trial->id, metric, step, values[r]});
      } else {
        ++step_.outcome.tally.dropped_points;
      }
    }
  }

  Step& step_;
  AttemptKey key_;
  Cohort& cohort_;
  std::vector<storage::Point> points_;
};

/// What was found out is worth more than how it went.
bool IsFinding(const TrainerRecord& record) {
  return std::holds_alternative<TrainerResult>(record.body) ||
         std::holds_alternative<TrainerEnd>(record.body) ||
         std::holds_alternative<TrainerReplicaEnd>(record.body);
}

/// The trainer has spoken: what was leased runs. What misses some of its ranks
/// is unreachable still, unless it has come to an end.
void StartRunning(Step& step, const Records& command, const LiveAttempt& live) {
  const AttemptKey& key = command.attempt;
  if (!live.AllHeard() && std::ranges::none_of(command.records, IsFinding)) {
    return;
  }
  const auto waits = [](TrialState state) {
    return IsHeld(state) && state != TrialState::kRunning;
  };
  for (const storage::TrialRecord& trial :
       TrialsWhere(*step.state.FindCohort(key.cohort), waits)) {
    step.Move(trial, TrialState::kRunning, "");
  }
}

/// One that has trained for a while speaks for its node, once.
void Vouch(Step& step, LiveAttempt& live) {
  if (live.vouched || !live.first_step_at ||
      step.now.steady - *live.first_step_at < step.policy.vouches_after) {
    return;
  }
  live.vouched = true;
  for (const LivePart& part : live.parts) NoteHealth(step, part.node);
}

void KeepApart(Step& step, const Records& command) {
  Tally& tally = step.outcome.tally;
  int64_t& kept =
      step.state.FindNode(command.session)->late_records[command.attempt];
  for (const TrainerRecord& record : command.records) {
    // An attempt may have gone on for days without us.
    if (kept >= (IsFinding(record) ? kMostLateFindings : kMostLateRecords)) {
      tally.dropped_points += CountPoints(record);
      continue;
    }
    ++kept;
    tally.late_points += CountPoints(record);
    step.outcome.orphans.push_back(
        {command.attempt, record.sequence, ToText(record)});
  }
  step.Tell(command.session,
            AckOrder{command.attempt, command.records.back().sequence});
  step.Tell(command.session, StopOrder{command.attempt, "it counts no more"});
}

}  // namespace

void Apply(Step& step, const Records& command) {
  if (!step.state.FindNode(command.session) || command.records.empty()) return;
  LiveAttempt* live = step.state.FindLive(command.attempt, command.session);
  if (!live) return KeepApart(step, command);
  LivePart& part = *step.state.FindPart(command.attempt, command.session);
  if (part.first_rank != 0) {
    return step.Tell(command.session,
                     CloseOrder{absl::InvalidArgumentError(
                         "records of attempt " + ToText(command.attempt) +
                         " come from rank 0 alone, which node " + part.node +
                         " does not hold")});
  }
  part.renewed = step.now.steady;
  part.is_heard = true;
  live->recorded_at = step.now.steady;
  step.Touch(command.attempt.cohort.cell.sweep);
  StartRunning(step, command, *live);
  Taker taker(step, command.attempt);
  int64_t last = live->record.last_sequence;
  for (const TrainerRecord& record : command.records) {
    if (record.sequence <= last) {
      step.outcome.tally.repeated_points += CountPoints(record);
      continue;
    }
    if (record.sequence > last + 1) {
      step.Tell(command.session,
                CloseOrder{absl::InvalidArgumentError(
                    "records of attempt " + ToText(command.attempt) +
                    " skip from " + std::to_string(last) + " to " +
                    std::to_string(record.sequence))});
      break;
    }
    taker.Take(record);
    last = record.sequence;
  }
  taker.FlushPoints();
  Vouch(step, *live);
  step.Do(storage::Acknowledge{command.attempt, last, live->step});
  step.Tell(command.session, AckOrder{command.attempt, last});
  CompleteIfDone(step, command.attempt.cohort.cell.sweep);
}

}  // namespace leadline::control
