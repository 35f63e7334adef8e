// What is done to sweeps in parts: that it is done whole.

#include "oracle.h"

namespace leadline::simulation {
namespace {

[[noreturn]] void Fail(const std::string& what) { throw Violation(what); }

}  // namespace

bool Oracle::IsOf(const storage::ErrandRecord& errand, const TrialId& trial) {
  return trial.cell.sweep == errand.sweep &&
         errand.cell.value_or(trial.cell.number) == trial.cell.number;
}

void Oracle::On(const storage::BeginErrand& change) {
  const storage::ErrandRecord& errand = change.errand;
  ++errands_[errand.sweep];
  for (const auto& [id, trial] : trials_) {
    if (IsOf(errand, id) &&
        ((errand.failed && trial.state == TrialState::kFailed) ||
         (errand.cancelled && trial.state == TrialState::kCancelled))) {
      to_be_queued_.insert(id);
    }
  }
}

/// What it was to do is done.
void Oracle::On(const storage::EndErrand& change) {
  const storage::ErrandRecord& errand = change.errand;
  if (--errands_[errand.sweep] < 0) {
    Fail("what was done to sweep " + ToText(errand.sweep) + " never began");
  }
  for (const auto& [id, trial] : trials_) {
    if (!IsOf(errand, id)) continue;
    if (errand.kind == storage::ErrandKind::kRetry &&
        to_be_queued_.contains(id)) {
      Fail("trial " + ToText(id) + " was to be queued again and was not");
    }
    if (errand.kind == storage::ErrandKind::kCancel && !IsEnded(trial.state)) {
      Fail("trial " + ToText(id) + " was to be cancelled and is " +
           std::string(Name(trial.state)));
    }
  }
}

}  // namespace leadline::simulation
