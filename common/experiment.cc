#include "common/experiment.h"

namespace leadline {
namespace {

template <typename Enum, size_t n>
std::optional<Enum> ParseName(const std::array<Enum, n>& all,
                              std::string_view name) {
  for (const Enum value : all) {
    if (Name(value) == name) return value;
  }
  return std::nullopt;
}

}  // namespace

bool IsEnded(TrialState state) {
  return state == TrialState::kSucceeded || state == TrialState::kDiverged ||
         state == TrialState::kFailed || state == TrialState::kCancelled;
}

bool IsHeld(TrialState state) {
  return state == TrialState::kLeased || state == TrialState::kRunning ||
         state == TrialState::kUnreachable;
}

bool IsLegalMove(TrialState from, TrialState to) {
  using enum TrialState;
  switch (to) {
    case kLeased:
      return from == kQueued;
    case kRunning:
      return from == kLeased || from == kUnreachable;
    case kUnreachable:
      return from == kLeased || from == kRunning;
    case kQueued:
      return IsHeld(from) || from == kSuspended || from == kFailed ||
             from == kCancelled;
    case kSuspended:
    case kSucceeded:
    case kDiverged:
      return from == kRunning;
    case kFailed:
      return IsHeld(from) || from == kQueued;
    case kCancelled:
      return !IsEnded(from);
  }
  return false;
}

std::string_view Name(TrialState state) {
  switch (state) {
    case TrialState::kQueued:
      return "queued";
    case TrialState::kLeased:
      return "leased";
    case TrialState::kRunning:
      return "running";
    case TrialState::kUnreachable:
      return "unreachable";
    case TrialState::kSuspended:
      return "suspended";
    case TrialState::kSucceeded:
      return "succeeded";
    case TrialState::kDiverged:
      return "diverged";
    case TrialState::kFailed:
      return "failed";
    case TrialState::kCancelled:
      return "cancelled";
  }
  return "";
}

std::string_view Name(SweepState state) {
  switch (state) {
    case SweepState::kActive:
      return "active";
    case SweepState::kPaused:
      return "paused";
    case SweepState::kComplete:
      return "complete";
    case SweepState::kCancelled:
      return "cancelled";
  }
  return "";
}

std::string_view Name(AttemptOutcome outcome) {
  switch (outcome) {
    case AttemptOutcome::kLive:
      return "live";
    case AttemptOutcome::kSucceeded:
      return "succeeded";
    case AttemptOutcome::kFailed:
      return "failed";
    case AttemptOutcome::kSuperseded:
      return "superseded";
    case AttemptOutcome::kPreempted:
      return "preempted";
    case AttemptOutcome::kCancelled:
      return "cancelled";
  }
  return "";
}

std::string_view Name(FailureKind kind) {
  switch (kind) {
    case FailureKind::kConfig:
      return "config";
    case FailureKind::kData:
      return "data";
    case FailureKind::kOom:
      return "oom";
    case FailureKind::kNcclInit:
      return "nccl_init";
    case FailureKind::kNccl:
      return "nccl";
    case FailureKind::kDevice:
      return "device";
    case FailureKind::kDisk:
      return "disk";
    case FailureKind::kCrash:
      return "crash";
    case FailureKind::kHang:
      return "hang";
    case FailureKind::kAgentLost:
      return "agent_lost";
  }
  return "";
}

std::string_view Name(OnFailures what) {
  return what == OnFailures::kStop ? "stop" : "finish";
}

std::optional<TrialState> ParseTrialState(std::string_view name) {
  return ParseName(kTrialStates, name);
}

std::optional<SweepState> ParseSweepState(std::string_view name) {
  return ParseName(kSweepStates, name);
}

std::optional<AttemptOutcome> ParseAttemptOutcome(std::string_view name) {
  return ParseName(kAttemptOutcomes, name);
}

std::optional<FailureKind> ParseFailureKind(std::string_view name) {
  return ParseName(kFailureKinds, name);
}

std::optional<OnFailures> ParseOnFailures(std::string_view name) {
  return ParseName(kOnFailures, name);
}

}  // namespace leadline
