#include "storage/change_checks.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace leadline::storage {
namespace {

absl::Status Misfit(const SweepId& sweep, const std::string& what) {
  return absl::InvalidArgumentError("adding sweep " + ToText(sweep) + ": " +
                                    what);
}

std::string TextOf(const ErrandRecord& errand) {
  std::string text =
      std::string(Name(errand.kind)) + " of sweep " + ToText(errand.sweep);
  if (errand.cell) text += ", cell " + std::to_string(*errand.cell);
  return text;
}

}  // namespace

absl::Status CheckParts(const AddSweep& change) {
  const SweepId sweep = change.sweep.id;
  if (sweep.value < 1) return Misfit(sweep, "sweeps count from 1");
  std::set<CellId> cells;
  for (const CellRecord& cell : change.cells) {
    if (cell.id.sweep != sweep || cell.id.number < 1) {
      return Misfit(sweep, "cell " + ToText(cell.id) + " is not of it");
    }
    if (!cells.insert(cell.id).second) {
      return Misfit(sweep, "cell " + ToText(cell.id) + " is there twice");
    }
  }
  std::set<CohortId> cohorts;
  for (const CohortRecord& cohort : change.cohorts) {
    if (!cells.contains(cohort.id.cell) || cohort.id.number < 0) {
      return Misfit(sweep, "cohort " + ToText(cohort.id) + " has no cell");
    }
    if (!cohorts.insert(cohort.id).second) {
      return Misfit(sweep, "cohort " + ToText(cohort.id) + " is there twice");
    }
  }
  std::set<TrialId> trials;
  std::set<std::pair<CellId, int64_t>> seeds;
  for (const TrialRecord& trial : change.trials) {
    if (!cohorts.contains(trial.cohort) || trial.cohort.cell != trial.id.cell ||
        trial.id.seed_index < 0) {
      return Misfit(sweep,
                    "trial " + ToText(trial.id) + " has no cohort of its cell");
    }
    if (!trials.insert(trial.id).second) {
      return Misfit(sweep, "trial " + ToText(trial.id) + " is there twice");
    }
    if (!seeds.insert({trial.id.cell, trial.seed}).second) {
      return Misfit(sweep, "seed " + std::to_string(trial.seed) +
                               " is twice in cell " + ToText(trial.id.cell));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFresh(const AttemptRecord& attempt) {
  if (attempt.outcome == AttemptOutcome::kLive && !attempt.ended_at &&
      !attempt.kind && attempt.last_sequence == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("starting attempt " + ToText(attempt.key) +
                                    ": it has a past already");
}

absl::Status CheckEnd(const EndAttempt& change) {
  if (change.outcome == AttemptOutcome::kLive) {
    return absl::InvalidArgumentError(
        "ending attempt " + ToText(change.attempt) + ": live is not an end");
  }
  if (change.outcome == AttemptOutcome::kFailed && !change.kind) {
    return absl::InvalidArgumentError(
        "ending attempt " + ToText(change.attempt) + ": a failure has a kind");
  }
  return absl::OkStatus();
}

absl::Status CheckNode(const NodeRecord& node) {
  if (node.name.empty()) {
    return absl::InvalidArgumentError("a node without a name");
  }
  if (node.quarantined && node.reason.empty()) {
    return absl::InvalidArgumentError("node " + node.name +
                                      " is quarantined for no reason");
  }
  std::vector<AttemptKey> attempts = node.failures;
  if (node.canary) attempts.push_back(*node.canary);
  for (const AttemptKey& key : attempts) {
    if (!ParseAttemptKey(ToText(key))) {
      return absl::InvalidArgumentError("node " + node.name +
                                        ": there is no attempt " + ToText(key));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStop(const StopSweep& change) {
  if (!change.because.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("stopping sweep " + ToText(change.sweep) +
                                    " for no reason");
}

absl::Status CheckDescription(const DescribeSweep& change, SweepState state) {
  const auto& tags = change.tags;
  if (std::adjacent_find(tags.begin(), tags.end(), std::greater_equal<>()) !=
      tags.end()) {
    return absl::InvalidArgumentError("tags of sweep " + ToText(change.sweep) +
                                      " are not sorted, or one is twice");
  }
  return change.archived_at ? CheckRemoval(change.sweep, state)
                            : absl::OkStatus();
}

absl::Status CheckRemoval(SweepId sweep, SweepState state) {
  if (state == SweepState::kComplete || state == SweepState::kCancelled) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError("sweep " + ToText(sweep) + " is " +
                                       std::string(Name(state)));
}

absl::Status CheckRemoval(const TrialId& trial, TrialState state) {
  if (IsEnded(state)) return absl::OkStatus();
  return absl::FailedPreconditionError("trial " + ToText(trial) + " is " +
                                       std::string(Name(state)));
}

absl::Status CheckErrand(const ErrandRecord& errand) {
  const bool is_retry = errand.kind == ErrandKind::kRetry;
  if (errand.cell.value_or(1) >= 1 &&
      is_retry == (errand.failed || errand.cancelled)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(TextOf(errand) + " makes no sense");
}

absl::Status UnderWay(const ErrandRecord& errand) {
  return absl::AlreadyExistsError(TextOf(errand) + " is under way already");
}

absl::Status NotUnderWay(const ErrandRecord& errand) {
  return absl::NotFoundError(TextOf(errand) + " is not under way");
}

absl::Status CheckShape(const RoutingRecord& routing) {
  for (const RouterRow& row : routing.map) {
    if (row.sources.size() != row.weights.size()) {
      return absl::InvalidArgumentError(
          "routing of trial " + ToText(routing.trial) + ": a router has " +
          std::to_string(row.sources.size()) + " sources and " +
          std::to_string(row.weights.size()) + " weights");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMove(const MoveSweep& change, SweepState state) {
  if (state == change.from) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "sweep " + ToText(change.sweep) + " is " + std::string(Name(state)) +
      ", not " + std::string(Name(change.from)));
}

absl::Status CheckMove(const MoveTrial& change, TrialState state) {
  if (state == change.from && IsLegalMove(change.from, change.to)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      "trial " + ToText(change.trial) + " is " + std::string(Name(state)) +
      " and cannot go from " + std::string(Name(change.from)) + " to " +
      std::string(Name(change.to)));
}

absl::Status CheckNext(const AttemptKey& key, int64_t last, bool last_is_live) {
  if (last_is_live) {
    return absl::FailedPreconditionError("starting attempt " + ToText(key) +
                                         ": attempt " + std::to_string(last) +
                                         " is live");
  }
  if (key.number == last + 1) return absl::OkStatus();
  return absl::FailedPreconditionError("starting attempt " + ToText(key) +
                                       ": the next one is number " +
                                       std::to_string(last + 1));
}

absl::Status CheckSameAnswer(const KeepAnswer& change,
                             const std::string& kept) {
  if (change.answer == kept) return absl::OkStatus();
  return absl::AlreadyExistsError("request " + change.request_id +
                                  " has another answer already");
}

absl::Status NotLive(const AttemptKey& attempt) {
  return absl::FailedPreconditionError("attempt " + ToText(attempt) +
                                       " is not live");
}

absl::Status NoSuchRank(const AttemptKey& attempt, int64_t rank) {
  return absl::InvalidArgumentError("attempt " + ToText(attempt) +
                                    " has no rank " + std::to_string(rank));
}

absl::Status NotOfCohort(const AttemptKey& attempt, const TrialId& trial) {
  return absl::FailedPreconditionError(
      "attempt " + ToText(attempt) + " does not train trial " + ToText(trial));
}

}  // namespace leadline::storage
