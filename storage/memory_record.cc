#include "storage/memory_record.h"

#include <algorithm>

#include "storage/change_checks.h"

namespace leadline::storage {
namespace {

template <typename Map>
const typename Map::mapped_type* Find(const Map& map,
                                      const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

void TakeText(std::string& stored, const std::string& said) {
  if (!said.empty()) stored = said;
}

void TakeNumber(int64_t& stored, int64_t said) {
  if (said != 0) stored = said;
}

}  // namespace

void MemoryTransaction::Undo() {
  for (; !undo_.empty(); undo_.pop_back()) undo_.back()();
}

absl::Status MemoryTransaction::Apply(const Change& change) {
  return std::visit([this](const auto& one) { return On(one); }, change);
}

const AttemptRecord* MemoryTransaction::FindLive(const AttemptKey& key) const {
  const AttemptRecord* attempt = Find(record_.attempts, key);
  if (!attempt || attempt->outcome != AttemptOutcome::kLive) return nullptr;
  return attempt;
}

absl::Status MemoryTransaction::CheckWriter(const AttemptKey& key,
                                            const TrialId& trial) const {
  if (!FindLive(key)) return NotLive(key);
  const TrialRecord* record = Find(record_.trials, trial);
  if (!record || record->cohort != key.cohort) return NotOfCohort(key, trial);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const AddSweep& change) {
  if (absl::Status fit = CheckParts(change); !fit.ok()) return fit;
  const SweepId id = change.sweep.id;
  if (record_.sweeps.contains(id)) {
    return absl::AlreadyExistsError("sweep " + ToText(id) +
                                    " is stored already");
  }
  Set(record_.sweeps, id, change.sweep);
  for (const CellRecord& cell : change.cells) Set(record_.cells, cell.id, cell);
  for (const CohortRecord& cohort : change.cohorts) {
    Set(record_.cohorts, cohort.id, cohort);
  }
  for (const TrialRecord& trial : change.trials) {
    Set(record_.trials, trial.id, trial);
  }
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const StageSweep& change) {
  const AddSweep& part = change.part;
  if (absl::Status fit = CheckParts(part); !fit.ok()) return fit;
  const SweepId id = part.sweep.id;
  if (record_.sweeps.contains(id)) {
    return absl::AlreadyExistsError("sweep " + ToText(id) +
                                    " is stored already");
  }
  const AddSweep* before = Find(record_.staged, id);
  AddSweep all = before ? *before : AddSweep{part.sweep, {}, {}, {}};
  all.cells.insert(all.cells.end(), part.cells.begin(), part.cells.end());
  all.cohorts.insert(all.cohorts.end(), part.cohorts.begin(),
                     part.cohorts.end());
  all.trials.insert(all.trials.end(), part.trials.begin(), part.trials.end());
  if (absl::Status fit = CheckParts(all); !fit.ok()) return fit;
  Set(record_.staged, id, all);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const AdmitSweep& change) {
  const AddSweep* staged = Find(record_.staged, change.sweep);
  if (!staged) {
    return absl::NotFoundError("no staged sweep " + ToText(change.sweep));
  }
  AddSweep all = *staged;
  all.sweep.submitted_at = change.submitted_at;
  Erase(record_.staged, change.sweep);
  return On(all);
}

absl::Status MemoryTransaction::On(const MoveSweep& change) {
  const SweepRecord* stored = Find(record_.sweeps, change.sweep);
  if (!stored) {
    return absl::NotFoundError("no sweep " + ToText(change.sweep));
  }
  if (absl::Status legal = CheckMove(change, stored->state); !legal.ok()) {
    return legal;
  }
  SweepRecord moved = *stored;
  moved.state = change.to;
  Set(record_.sweeps, change.sweep, moved);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const MoveTrial& change) {
  const TrialRecord* stored = Find(record_.trials, change.trial);
  if (!stored) {
    return absl::NotFoundError("no trial " + ToText(change.trial));
  }
  if (absl::Status legal = CheckMove(change, stored->state); !legal.ok()) {
    return legal;
  }
  TrialRecord moved = *stored;
  moved.state = change.to;
  moved.reason = change.reason;
  Set(record_.trials, change.trial, moved);
  const RowEffect effect = EffectOnRow(change);
  if (effect == RowEffect::kNone) return absl::OkStatus();
  SweepRecord sweep = record_.sweeps.at(change.trial.cell.sweep);
  sweep.failures_in_row =
      effect == RowEffect::kLonger ? sweep.failures_in_row + 1 : 0;
  if (effect == RowEffect::kEndsWithStop) sweep.stopped_because.clear();
  Set(record_.sweeps, sweep.id, sweep);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const StopSweep& change) {
  if (absl::Status stop = CheckStop(change); !stop.ok()) return stop;
  const SweepRecord* stored = Find(record_.sweeps, change.sweep);
  if (!stored) {
    return absl::NotFoundError("no sweep " + ToText(change.sweep));
  }
  SweepRecord sweep = *stored;
  sweep.stopped_because = change.because;
  Set(record_.sweeps, change.sweep, sweep);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const SetStanding& change) {
  const CohortRecord* stored = Find(record_.cohorts, change.cohort.id);
  if (!stored) {
    return absl::NotFoundError("no cohort " + ToText(change.cohort.id));
  }
  CohortRecord cohort = change.cohort;
  cohort.attempts = stored->attempts;
  Set(record_.cohorts, cohort.id, cohort);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const SetNode& change) {
  if (absl::Status fit = CheckNode(change.node); !fit.ok()) return fit;
  if (change.node.IsClean()) {
    Erase(record_.nodes, change.node.name);
  } else {
    Set(record_.nodes, change.node.name, change.node);
  }
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const StartAttempt& change) {
  const AttemptKey& key = change.attempt.key;
  if (absl::Status fresh = CheckFresh(change.attempt); !fresh.ok()) {
    return fresh;
  }
  const CohortRecord* stored = Find(record_.cohorts, key.cohort);
  if (!stored) {
    return absl::NotFoundError("no cohort " + ToText(key.cohort));
  }
  const bool last_is_live = FindLive({key.cohort, stored->attempts}) != nullptr;
  if (absl::Status next = CheckNext(key, stored->attempts, last_is_live);
      !next.ok()) {
    return next;
  }
  CohortRecord cohort = *stored;
  cohort.attempts = key.number;
  Set(record_.cohorts, key.cohort, cohort);
  Set(record_.attempts, key, change.attempt);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const DescribeAttempt& change) {
  const AttemptRecord& said = change.attempt;
  const AttemptRecord* stored = FindLive(said.key);
  if (!stored) return NotLive(said.key);
  AttemptRecord attempt = *stored;
  TakeText(attempt.device, said.device);
  TakeText(attempt.numerics, said.numerics);
  TakeText(attempt.version, said.version);
  TakeText(attempt.commit, said.commit);
  TakeText(attempt.libraries, said.libraries);
  TakeText(attempt.dataset_path, said.dataset_path);
  TakeNumber(attempt.threads, said.threads);
  TakeNumber(attempt.parameters, said.parameters);
  Set(record_.attempts, said.key, attempt);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const SetRankPids& change) {
  const AttemptRecord* stored = FindLive(change.attempt);
  if (!stored) return NotLive(change.attempt);
  AttemptRecord attempt = *stored;
  for (const SetRankPids::Pid& said : change.pids) {
    if (said.rank < 0 || said.rank >= std::ssize(attempt.ranks)) {
      return NoSuchRank(change.attempt, said.rank);
    }
    attempt.ranks[static_cast<size_t>(said.rank)].pid = said.pid;
  }
  Set(record_.attempts, change.attempt, attempt);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const EndAttempt& change) {
  if (absl::Status end = CheckEnd(change); !end.ok()) return end;
  const AttemptRecord* stored = FindLive(change.attempt);
  if (!stored) return NotLive(change.attempt);
  AttemptRecord attempt = *stored;
  attempt.outcome = change.outcome;
  attempt.kind = change.kind;
  attempt.message = change.message;
  attempt.ended_at = change.at;
  Set(record_.attempts, change.attempt, attempt);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const AskToStop& change) {
  const AttemptRecord* stored = FindLive(change.attempt);
  if (!stored) return NotLive(change.attempt);
  if (!stored->stop_reason.empty()) return absl::OkStatus();
  AttemptRecord attempt = *stored;
  attempt.stop_reason = change.reason;
  Set(record_.attempts, change.attempt, attempt);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const Acknowledge& change) {
  const AttemptRecord* stored = FindLive(change.attempt);
  if (!stored) return NotLive(change.attempt);
  AttemptRecord attempt = *stored;
  attempt.last_sequence = std::max(attempt.last_sequence, change.sequence);
  attempt.step = std::max(attempt.step, change.step);
  Set(record_.attempts, change.attempt, attempt);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const AddPoints& change) {
  if (!FindLive(change.attempt)) return NotLive(change.attempt);
  for (const Point& point : change.points) {
    if (absl::Status may = CheckWriter(change.attempt, point.trial);
        !may.ok()) {
      return may;
    }
    // An empty curve reads as none, so a curve once made may stay.
    auto& curve = record_.curves[{point.trial, point.metric}];
    ++(curve.contains(point.step) ? points_.overwritten : points_.stored);
    Set(curve, point.step, point.value);
  }
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const AddRouting& change) {
  const RoutingRecord& routing = change.routing;
  if (absl::Status shape = CheckShape(routing); !shape.ok()) return shape;
  if (absl::Status may = CheckWriter(change.attempt, routing.trial);
      !may.ok()) {
    return may;
  }
  Set(record_.routing, {routing.trial, routing.step}, routing);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const AddWindows& change) {
  const WindowLosses& windows = change.windows;
  if (absl::Status may = CheckWriter(change.attempt, windows.trial);
      !may.ok()) {
    return may;
  }
  Set(record_.windows, {windows.trial, windows.split, windows.step}, windows);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const AddResult& change) {
  const ResultRecord& result = change.result;
  if (absl::Status may = CheckWriter(result.attempt, result.trial); !may.ok()) {
    return may;
  }
  Set(record_.results, result.trial, result);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const KeepOrphan& change) {
  const OrphanRecord& orphan = change.record;
  if (!record_.attempts.contains(orphan.attempt)) {
    return absl::NotFoundError("there never was an attempt " +
                               ToText(orphan.attempt));
  }
  const std::pair key(orphan.attempt, orphan.sequence);
  if (!record_.orphans.contains(key)) Set(record_.orphans, key, orphan);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const KeepAnswer& change) {
  const std::string* kept = Find(record_.answers, change.request_id);
  if (kept) return CheckSameAnswer(change, *kept);
  Set(record_.answers, change.request_id, change.answer);
  return absl::OkStatus();
}

}  // namespace leadline::storage
