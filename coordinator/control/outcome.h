// What a step of control asks for: changes to commit, and what to do once they
// are committed.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/explanation.h"
#include "coordinator/control/node_report.h"
#include "coordinator/control/tally.h"
#include "model/spec/settings.h"
#include "storage/store.h"

namespace leadline::control {

/// The answer to NodeRegistered.
struct WelcomeOrder {
  std::string node;
  double lease_seconds = 0;
  double heartbeat_seconds = 0;
  std::vector<std::pair<AttemptKey, int64_t>> acknowledged;
  std::vector<AttemptKey> superseded;
};

struct StartOrder {
  AttemptKey attempt;
  spec::GivenSettings settings;
  std::vector<int64_t> seeds;
  storage::DatasetRecord dataset;
  std::vector<std::string> devices;  // of the ranks there, in turn
  std::vector<TrialId> trials;       // one a seed
  int64_t world_size = 1;
  int64_t first_rank = 0;
  int64_t ranks = 1;  // there
};

/// Without peers: every part is ready, and its trainers may start. With them:
/// where each rank listens.
struct RendezvousOrder {
  AttemptKey attempt;
  std::vector<std::string> peers;
};

struct StopOrder {
  AttemptKey attempt;
  std::string reason;
};

/// Records up to `sequence` are on disk.
struct AckOrder {
  AttemptKey attempt;
  int64_t sequence = 0;
};

struct RenewalOrder {
  int64_t number = 0;
  std::vector<AttemptKey> attempts;
};

/// What AttemptEnded or AttemptRefused said is on disk.
struct EndedAckOrder {
  AttemptKey attempt;
};

/// Ends the stream.
struct CloseOrder {
  absl::Status status;
};

using Order =
    std::variant<WelcomeOrder, StartOrder, StopOrder, AckOrder, RenewalOrder,
                 EndedAckOrder, CloseOrder, RendezvousOrder>;

struct AgentOrder {
  SessionId session;
  Order order;
};

/// An attempt that ended badly, told to those who watch.
struct Failure {
  int64_t number = 0;  // counts the failures of the sweep from 1
  TrialId trial;
  AttemptKey attempt;
  FailureKind kind = FailureKind::kCrash;
  std::string message;
  bool is_final = false;  // no retry follows
};

struct ProgressReport {
  SweepId sweep;
  std::string name;
  SweepState state = SweepState::kActive;
  std::array<int64_t, kTrialStates.size()> trials{};  // by state
  int64_t planned = 0;
  double tokens_per_second = 0;
  std::optional<double> seconds_left;
  double fraction_done = 0;       // of all training steps planned
  std::string waiting_for;        // why nothing runs; empty otherwise
  bool can_run = false;           // some agent could hold one of its cohorts
  std::vector<Failure> failures;  // the newest, oldest first
};

struct SubmitAnswer {
  SweepId sweep;
  bool existing = false;
};

struct CancelAnswer {
  int64_t cancelled = 0;
};

/// What became of the trials of one target.
struct RetriedTarget {
  Target target;
  int64_t queued = 0;
  int64_t failed = 0;  // left alone, as are the next three
  int64_t cancelled = 0;
  int64_t unfinished = 0;
  int64_t finished = 0;  // succeeded or diverged
};

struct RetryAnswer {
  std::vector<RetriedTarget> targets;
};

struct PauseAnswer {
  bool changed = false;  // it was active before
  int64_t stopping = 0;  // trials whose attempts were asked to stop now
  int64_t running = 0;   // trials whose attempts go on to their end
  int64_t waiting = 0;   // trials that wait until it is resumed
};

struct ResumeAnswer {
  bool changed = false;  // it was paused before
  int64_t queued = 0;    // trials that were suspended
  int64_t waiting = 0;   // trials that wait for a device
};

struct EditAnswer {
  bool changed = false;
};

struct RemoveAnswer {
  int64_t sweeps = 0;
  int64_t trials = 0;  // whose measurements go
};

using Answer =
    std::variant<std::monostate, SubmitAnswer, CancelAnswer, RetryAnswer,
                 PauseAnswer, ResumeAnswer, EditAnswer, RemoveAnswer,
                 ProgressReport, Explanation, NodesReport, ClearAnswer>;

struct Outcome {
  std::vector<storage::Change> changes;  // one transaction
  /// Kept after it, each alone: whether such an attempt ever was is not known.
  std::vector<storage::OrphanRecord> orphans;
  std::vector<AgentOrder> orders;
  Tally tally;                // for those who measure
  std::set<SweepId> touched;  // their progress is not what it was
  absl::StatusOr<Answer> answer = Answer{};
};

}  // namespace leadline::control
