#include "coordinator/control/look_up.h"

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/control/request_answers.h"

namespace leadline::control {
namespace {

/// Others wait while they are read.
constexpr size_t kMostEnded = 32;

/// Its answer rests on what the store holds, which what waits to be committed
/// is not part of.
template <typename Kind>
concept IsRequest = requires(Kind command) {
  command.request_id;
  command.kept_answer;
};

template <typename Found>
absl::Status Put(absl::StatusOr<Found> found, Found& into) {
  if (!found.ok()) return found.status();
  into = *std::move(found);
  return absl::OkStatus();
}

absl::Status FindEnded(const storage::Store& store, const State& state,
                       const std::vector<Target>& targets,
                       std::vector<storage::SweepRecord>& ended) {
  ended.clear();
  std::set<SweepId> looked_at;
  for (const Target& target : targets) {
    const SweepId id = SweepOf(target);
    if (state.sweeps.contains(id) || !looked_at.insert(id).second) continue;
    auto record = store.FindSweep(id);
    if (!record.ok()) return record.status();
    if (*record) ended.push_back(**std::move(record));
  }
  return absl::OkStatus();
}

}  // namespace

bool AsksTheStore(const Command& command) {
  return std::visit([]<typename Kind>(const Kind&) { return IsRequest<Kind>; },
                    command);
}

absl::Status LookUp(const storage::Store& store, const State& state,
                    Command& command) {
  absl::Status kept = std::visit(
      [&]<typename Kind>(Kind& one) {
        if constexpr (IsRequest<Kind>) {
          return Put(store.FindAnswer(one.request_id), one.kept_answer);
        } else {
          return absl::OkStatus();
        }
      },
      command);
  if (!kept.ok()) return kept;
  if (auto* submit = std::get_if<SubmitSweep>(&command)) {
    const storage::SweepRecord& sweep = submit->sweep.sweep;
    return Put(store.FindEqualSweep(sweep.name, sweep.canonical_hash),
               submit->equal_sweep);
  }
  if (auto* edit = std::get_if<EditSweep>(&command)) {
    return FindEnded(store, state, {edit->sweep}, edit->ended);
  }
  if (auto* remove = std::get_if<RemoveTargets>(&command)) {
    return FindEnded(store, state, remove->targets, remove->ended);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SweepId>> ToRecall(const State& state,
                                              const Command& command) {
  const auto* retry = std::get_if<RetryTargets>(&command);
  if (!retry || retry->kept_answer) return std::vector<SweepId>();
  std::set<SweepId> ended;
  for (const Target& target : retry->targets) {
    const SweepId id = SweepOf(target);
    if (!state.sweeps.contains(id)) ended.insert(id);
  }
  if (ended.size() <= kMostEnded) {
    return std::vector<SweepId>(ended.begin(), ended.end());
  }
  return absl::InvalidArgumentError(
      "a retry names at most " + std::to_string(kMostEnded) +
      " sweeps that have ended, not " + std::to_string(ended.size()) +
      ": split it");
}

}  // namespace leadline::control
