// The states of sweeps, trials and attempts, and the moves between them. The
// only list of either.

#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace leadline {

enum class TrialState {
  kQueued,       // waits for a device
  kLeased,       // the order to start it is committed
  kRunning,      // its trainer has spoken
  kUnreachable,  // its lease ended; the agent may yet come back
  kSuspended,    // paused with its reason, after a checkpoint
  kSucceeded,    // its result is committed
  kDiverged,     // ended by a non-finite loss: a result, not a failure
  kFailed,       // ended without a result, retries used up
  kCancelled,    // ended by command
};

inline constexpr std::array kTrialStates = {
    TrialState::kQueued,      TrialState::kLeased,    TrialState::kRunning,
    TrialState::kUnreachable, TrialState::kSuspended, TrialState::kSucceeded,
    TrialState::kDiverged,    TrialState::kFailed,    TrialState::kCancelled};

enum class SweepState { kActive, kPaused, kComplete, kCancelled };

/// What becomes of attempts that run when a sweep has reached its limit of
/// failures. Nothing starts any more either way.
enum class OnFailures {
  kStop,    // they are stopped
  kFinish,  // they run to their end
};

inline constexpr std::array kOnFailures = {OnFailures::kStop,
                                           OnFailures::kFinish};

inline constexpr std::array kSweepStates = {
    SweepState::kActive, SweepState::kPaused, SweepState::kComplete,
    SweepState::kCancelled};

/// How an attempt ended; kLive while it has not.
enum class AttemptOutcome {
  kLive,
  kSucceeded,
  kFailed,
  kSuperseded,
  kPreempted,
  kCancelled,
};

inline constexpr std::array kAttemptOutcomes = {
    AttemptOutcome::kLive,      AttemptOutcome::kSucceeded,
    AttemptOutcome::kFailed,    AttemptOutcome::kSuperseded,
    AttemptOutcome::kPreempted, AttemptOutcome::kCancelled};

/// Why an attempt failed. The closed list that drives retry and display.
enum class FailureKind {
  kConfig,     // the configuration was refused
  kData,       // the data is missing or is not what its hash says
  kOom,        // out of memory, host or device
  kNcclInit,   // a communicator could not be set up
  kNccl,       // a collective failed
  kDevice,     // the device reported a fault
  kDisk,       // no space, or an I/O error
  kCrash,      // the trainer ended by a signal or an unknown exit code
  kHang,       // no progress
  kAgentLost,  // the agent went away and did not come back in time
};

inline constexpr std::array kFailureKinds = {
    FailureKind::kConfig,   FailureKind::kData,  FailureKind::kOom,
    FailureKind::kNcclInit, FailureKind::kNccl,  FailureKind::kDevice,
    FailureKind::kDisk,     FailureKind::kCrash, FailureKind::kHang,
    FailureKind::kAgentLost};

/// True for the moves of the table in docs/architecture.md, and no other.
bool IsLegalMove(TrialState from, TrialState to);

/// True for succeeded, diverged, failed and cancelled.
bool IsEnded(TrialState state);

/// True for leased, running and unreachable: an attempt holds the trial.
bool IsHeld(TrialState state);

/// The words used in SQL, JSON, protocol and metrics: "queued", "agent_lost".
std::string_view Name(TrialState state);
std::string_view Name(SweepState state);
std::string_view Name(AttemptOutcome outcome);
std::string_view Name(FailureKind kind);
std::string_view Name(OnFailures what);

/// Null unless `name` is one of the words above.
std::optional<TrialState> ParseTrialState(std::string_view name);
std::optional<SweepState> ParseSweepState(std::string_view name);
std::optional<AttemptOutcome> ParseAttemptOutcome(std::string_view name);
std::optional<FailureKind> ParseFailureKind(std::string_view name);
std::optional<OnFailures> ParseOnFailures(std::string_view name);

}  // namespace leadline
