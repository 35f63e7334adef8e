#include "coordinator/control/state.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace leadline::control {

bool Cohort::HasOpenTrial() const {
  return std::any_of(trials.begin(), trials.end(),
                     [](const auto& t) { return !IsEnded(t.state); });
}

bool Cohort::HasHeldTrial() const {
  return std::any_of(trials.begin(), trials.end(),
                     [](const auto& t) { return IsHeld(t.state); });
}

bool Cohort::Waits() const {
  return !live && std::any_of(trials.begin(), trials.end(), [](const auto& t) {
    return t.state == TrialState::kQueued;
  });
}

std::vector<storage::TrialRecord> TrialsWhere(const Cohort& cohort,
                                              bool (*is_meant)(TrialState)) {
  std::vector<storage::TrialRecord> trials;
  for (const storage::TrialRecord& trial : cohort.trials) {
    if (is_meant(trial.state)) trials.push_back(trial);
  }
  return trials;
}

int64_t Sweep::Count(TrialState state) const {
  return trials[static_cast<size_t>(state)];
}

int64_t Sweep::CountEnded() const {
  int64_t ended = 0;
  for (const TrialState state : kTrialStates) {
    if (IsEnded(state)) ended += Count(state);
  }
  return ended;
}

int64_t Sweep::CountPlanned() const {
  return std::accumulate(trials.begin(), trials.end(), int64_t{0});
}

Sweep* State::FindSweep(SweepId id) {
  const auto found = sweeps.find(id);
  return found == sweeps.end() ? nullptr : &found->second;
}

Cell* State::FindCell(CellId id) {
  Sweep* sweep = FindSweep(id.sweep);
  if (!sweep || id.number < 1 || id.number > std::ssize(sweep->cells)) {
    return nullptr;
  }
  return &sweep->cells[id.number - 1];
}

Cohort* State::FindCohort(CohortId id) {
  Cell* cell = FindCell(id.cell);
  if (!cell || id.number < 0 || id.number >= std::ssize(cell->cohorts)) {
    return nullptr;
  }
  return &cell->cohorts[id.number];
}

storage::TrialRecord* State::FindTrial(TrialId id) {
  Cell* cell = FindCell(id.cell);
  if (!cell) return nullptr;
  int64_t first = 0;
  for (Cohort& cohort : cell->cohorts) {
    const int64_t place = id.seed_index - first;
    if (place >= 0 && place < std::ssize(cohort.trials)) {
      return &cohort.trials[place];
    }
    first += std::ssize(cohort.trials);
  }
  return nullptr;
}

LiveAttempt* State::FindLive(const AttemptKey& key) {
  Cohort* cohort = FindCohort(key.cohort);
  if (!cohort || !cohort->live || cohort->live->record.key != key) {
    return nullptr;
  }
  return &*cohort->live;
}

LiveAttempt* State::FindLive(const AttemptKey& key, SessionId session) {
  const Node* node = FindNode(session);
  LiveAttempt* live = FindLive(key);
  return node && live && live->record.node == node->name ? live : nullptr;
}

Node* State::FindNode(SessionId session) {
  const auto name = sessions.find(session);
  return name == sessions.end() ? nullptr : &nodes.at(name->second);
}

int64_t State::CountLive(SweepId sweep) const {
  const auto first = live.lower_bound({{sweep, 0}, 0});
  const auto last = live.lower_bound({{{sweep.value + 1}, 0}, 0});
  return std::distance(first, last);
}

bool State::IsWaiting(SweepId sweep) const {
  const auto first = waiting.lower_bound({{sweep, 0}, 0});
  return first != waiting.end() && first->cell.sweep == sweep;
}

}  // namespace leadline::control
