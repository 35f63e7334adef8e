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

int64_t Sweep::CountOpen() const { return CountPlanned() - CountEnded(); }

LivePart* LiveAttempt::PartOn(const std::string& node) {
  const auto found = std::ranges::find(parts, node, &LivePart::node);
  return found == parts.end() ? nullptr : &*found;
}

const LivePart* LiveAttempt::PartOn(const std::string& node) const {
  const auto found = std::ranges::find(parts, node, &LivePart::node);
  return found == parts.end() ? nullptr : &*found;
}

bool LiveAttempt::AllHeard() const {
  return std::ranges::all_of(parts, [](const LivePart& part) {
    return part.is_heard || part.has_ended;
  });
}

bool LiveAttempt::AllEnded() const {
  return std::ranges::all_of(parts, &LivePart::has_ended);
}

SteadyTime LiveAttempt::Renewed() const {
  SteadyTime first = SteadyTime::max();
  for (const LivePart& part : parts) {
    if (!part.has_ended) first = std::min(first, part.renewed);
  }
  return first == SteadyTime::max() ? parts.front().renewed : first;
}

std::string LiveAttempt::WaitingFor() const {
  const LivePart* holds_up = nullptr;
  for (const LivePart& part : parts) {
    if (part.waiting_for.empty()) continue;
    // Who is ready only waits for the others.
    if (!holds_up || (holds_up->is_ready && !part.is_ready)) holds_up = &part;
  }
  return holds_up ? holds_up->node + " is " + holds_up->waiting_for : "";
}

std::vector<LivePart> PartsOf(const storage::AttemptRecord& record) {
  std::vector<LivePart> parts;
  for (size_t rank = 0; rank < record.ranks.size(); ++rank) {
    const storage::RankRecord& one = record.ranks[rank];
    if (parts.empty() || parts.back().node != one.node) {
      LivePart& part = parts.emplace_back();
      part.node = one.node;
      part.first_rank = static_cast<int64_t>(rank);
      part.ranks = 0;
    }
    LivePart& part = parts.back();
    ++part.ranks;
    part.addresses.emplace_back();
    part.devices.insert(part.devices.end(), one.devices.begin(),
                        one.devices.end());
  }
  if (!parts.empty()) return parts;
  LivePart& whole = parts.emplace_back();
  whole.node = record.node;
  whole.devices = record.devices;
  whole.addresses.resize(1);
  return parts;
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
  return node && live && live->PartOn(node->name) ? live : nullptr;
}

LivePart* State::FindPart(const AttemptKey& key, SessionId session) {
  LiveAttempt* live = FindLive(key, session);
  return live ? live->PartOn(FindNode(session)->name) : nullptr;
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

std::vector<CohortId> State::LiveOf(SweepId sweep) const {
  return {live.lower_bound({{sweep, 0}, 0}),
          live.lower_bound({{{sweep.value + 1}, 0}, 0})};
}

bool State::IsWaiting(SweepId sweep) const {
  const auto first = waiting.lower_bound({{sweep, 0}, 0});
  return first != waiting.end() && first->cell.sweep == sweep;
}

}  // namespace leadline::control
