#include "coordinator/control/held_requests.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "coordinator/control/request_answers.h"

namespace leadline::control {
namespace {

struct Finder {
  std::vector<SweepId> operator()(const CancelTarget& command) const {
    return {SweepOf(command.target)};
  }
  std::vector<SweepId> operator()(const RetryTargets& command) const {
    return Of(command.targets);
  }
  std::vector<SweepId> operator()(const PauseSweep& command) const {
    return {command.sweep};
  }
  std::vector<SweepId> operator()(const ResumeSweep& command) const {
    return {command.sweep};
  }
  std::vector<SweepId> operator()(const EditSweep& command) const {
    return {command.sweep};
  }
  std::vector<SweepId> operator()(const RemoveTargets& command) const {
    return Of(command.targets);
  }
  template <typename Other>
  std::vector<SweepId> operator()(const Other&) const {
    return {};
  }

  static std::vector<SweepId> Of(const std::vector<Target>& targets) {
    std::vector<SweepId> sweeps;
    for (const Target& target : targets) {
      const SweepId sweep = SweepOf(target);
      if (sweeps.empty() || sweeps.back() != sweep) sweeps.push_back(sweep);
    }
    return sweeps;
  }
};

}  // namespace

std::vector<SweepId> SweepsOf(const Command& command) {
  return std::visit(Finder{}, command);
}

bool HeldRequests::MustWait(const Command& command, const IsBusy& is_busy) {
  return std::ranges::any_of(SweepsOf(command), is_busy);
}

std::deque<Envelope> HeldRequests::Take() {
  return std::exchange(waiting_, {});
}

void HeldRequests::HoldAnswer(Envelope applied, absl::StatusOr<Answer> answer) {
  unanswered_.push_back({std::move(applied), std::move(answer)});
}

void HeldRequests::AnswerDone(const IsBusy& is_busy) {
  for (Unanswered& one : std::exchange(unanswered_, {})) {
    if (MustWait(one.applied.command, is_busy)) {
      unanswered_.push_back(std::move(one));
    } else {
      one.applied.answered(std::move(one.answer));
    }
  }
}

void HeldRequests::Refuse(const absl::Status& status) {
  for (Envelope& envelope : std::exchange(waiting_, {})) {
    envelope.answered(status);
  }
  for (Unanswered& one : std::exchange(unanswered_, {})) {
    one.applied.answered(status);
  }
}

}  // namespace leadline::control
