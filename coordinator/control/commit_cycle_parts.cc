// What takes several turns: submissions, retries that read what they need, and
// errands.

#include <string>
#include <utility>
#include <variant>

#include "coordinator/control/commit_cycle.h"
#include "coordinator/control/errands.h"
#include "coordinator/control/look_up.h"

namespace leadline::control {
namespace {

void Ignore(const absl::StatusOr<Answer>&) {}

}  // namespace

bool CommitCycle::IsBusy(SweepId sweep) const {
  return control::IsBusy(control_->state(), sweep) || recalls_.Concerns(sweep);
}

bool CommitCycle::HasMoreToDo() const {
  return !admissions_.IsEmpty() || !recalls_.IsEmpty() || !held_.IsEmpty() ||
         HasErrands(control_->state());
}

/// False if there is nothing to store.
bool CommitCycle::BeginAdmission() {
  Envelope& first = admissions_.First();
  const absl::Status found = LookUp(store_, control_->state(), first.command);
  const auto& submit = std::get<SubmitSweep>(first.command);
  const bool is_known =
      submit.kept_answer || (submit.equal_sweep && !submit.make_new);
  if (found.ok() && !is_known) {
    admissions_.Begin(control_->TakeNumber());
    return true;
  }
  Envelope envelope = admissions_.Take();
  if (!found.ok()) {
    envelope.answered(found);
  } else {
    Apply(std::move(envelope));
    Flush();
  }
  return false;
}

void CommitCycle::Admit() {
  if (admissions_.IsEmpty()) return;
  if (!admissions_.Number() && !BeginAdmission()) return;
  const storage::Change* part = admissions_.NextPart();
  if (!part) {
    Add(admissions_.Take());
    Flush();
    return;
  }
  const absl::Status stored = store_.Commit({part, 1});
  if (stored.ok()) {
    retry_wait_ = {};
    return admissions_.Taken();
  }
  if (absl::IsUnavailable(stored)) return WaitAndRetry(stored);
  log_.Write(LogLevel::kError, "commit_failed",
             {{"code", absl::StatusCodeToString(stored.code())},
              {"message", std::string(stored.message())}});
  admissions_.Take().answered(absl::Status(
      absl::IsDataLoss(stored) ? stored.code() : absl::StatusCode::kInternal,
      "the sweep could not be stored: " + std::string(stored.message())));
}

void CommitCycle::GoOn() {
  if (!recalls_.IsEmpty() && !has_recalled_) {
    Recall();
    if (!Flush()) return;
  }
  if (!HasErrands(control_->state())) return;
  Apply({CarryOn{}, &Ignore});
  Flush();
}

void CommitCycle::Recall() {
  has_recalled_ = true;
  const auto is_there = recalls_.ReadSome(store_);
  if (is_there.ok() && !*is_there) return;
  Envelope envelope = recalls_.Take();
  absl::Status found = is_there.status();
  // Its request id may have been used meanwhile.
  if (found.ok()) found = LookUp(store_, control_->state(), envelope.command);
  if (!found.ok()) return envelope.answered(found);
  Apply(std::move(envelope));
}

}  // namespace leadline::control
