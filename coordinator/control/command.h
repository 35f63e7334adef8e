// Everything that may move the state of the coordinator: what people ask, what
// agents say, and that time passes.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/ids.h"
#include "coordinator/control/trainer_record.h"
#include "storage/records.h"
#include "storage/store.h"

namespace leadline::control {

/// One stream of one agent, numbered by the server, never twice.
struct SessionId {
  int64_t value = 0;
  auto operator<=>(const SessionId&) const = default;
};

/// What a cell asks for, as its settings say.
struct CellNeeds {
  int64_t devices = 1;  // ranks of an attempt
  int64_t threads = 1;  // CPU slots of a rank
  double work = 1;      // of one trial: FLOPs where known, else steps
};

struct NewCell {
  storage::CellRecord record;
  std::vector<int64_t> cohort_sizes;  // together all seeds, in their order
  std::optional<CellNeeds> needs;     // null: still to be read from the record
};

/// What a sweep file expanded to. Ids are not set: cells get theirs by place.
struct NewSweep {
  storage::SweepRecord sweep;
  std::vector<NewCell> cells;
  std::vector<int64_t> seeds;  // of every cell
};

struct StagedSweep;

/// `kept_answer` and `equal_sweep` are what the store has under the request id
/// and for the same sweep, looked up right before. `staged`: all parts of the
/// sweep are stored already, out of sight.
struct SubmitSweep {
  NewSweep sweep;
  int64_t duplicates = 0;
  std::string request_id;
  bool make_new = false;
  std::optional<std::string> kept_answer;
  std::optional<SweepId> equal_sweep;
  std::shared_ptr<StagedSweep> staged = nullptr;
};

/// A sweep, a cell or a trial.
using Target = std::variant<SweepId, CellId, TrialId>;

struct CancelTarget {
  Target target;
  std::string request_id;
  std::optional<std::string> kept_answer;
};

struct RecalledSweep;

/// Queues trials again that failed, or were cancelled. `ended` are those sweeps
/// of the targets that are no longer in memory, as the store has them.
struct RetryTargets {
  std::vector<Target> targets;
  bool failed = true;
  bool cancelled = false;
  std::string request_id;
  std::optional<std::string> kept_answer;
  std::vector<std::shared_ptr<RecalledSweep>> ended;
};

/// `stop`: what runs is asked to stop, and does not go on to its end.
struct PauseSweep {
  SweepId sweep;
  bool stop = false;
  std::string request_id;
  std::optional<std::string> kept_answer;
};

struct ResumeSweep {
  SweepId sweep;
  std::string request_id;
  std::optional<std::string> kept_answer;
};

/// What is not set stays. `ended` is the sweep as the store has it, where it is
/// not in memory; the same holds below.
struct EditSweep {
  SweepId sweep;
  std::optional<bool> archived;
  std::optional<std::string> note;
  std::vector<std::string> add_tags;
  std::vector<std::string> remove_tags;
  std::string request_id;
  std::optional<std::string> kept_answer;
  std::vector<storage::SweepRecord> ended;
};

/// Sweeps go as a whole, of trials only what was measured on the way.
/// `dry_run`: only whether they may.
struct RemoveTargets {
  std::vector<Target> targets;
  bool dry_run = false;
  std::string request_id;
  std::optional<std::string> kept_answer;
  std::vector<storage::SweepRecord> ended;
};

struct LookAtSweep {
  SweepId sweep;
};

struct ExplainTarget {
  Target target;
};

/// One node, or all of them where no name is given.
struct LookAtNodes {
  std::string node = {};
};

/// Forgets what is held against a node.
struct ClearNode {
  std::string node;
  std::string request_id;
  std::optional<std::string> kept_answer;
};

/// Whether some client waits for work to be done. Always so unless the
/// coordinator is private.
struct ClientsWantWork {
  bool wanted = false;
};

struct DeviceInfo {
  std::string id;
  std::string type;
  int64_t memory_bytes = 0;
};

/// What an agent says of itself, for people alone.
struct AgentFacts {
  std::string host;
  std::string version;
  std::string commit;
  int32_t protocol_version = 0;
  int64_t pid = 0;
};

struct HeldAttempt {
  AttemptKey key;
  std::vector<std::string> devices;
};

struct NodeRegistered {
  SessionId session;
  std::string node;
  std::string instance;  // fresh at every start of an agent
  /// Of an agent that has certainly ended; empty if none is known.
  std::string previous_instance = {};
  AgentFacts agent = {};
  std::vector<DeviceInfo> devices;
  std::vector<HeldAttempt> attempts;
  bool takes_gangs = true;  // its agent knows of several ranks
};

/// The stream ended, for whatever reason.
struct NodeLost {
  SessionId session;
};

struct Heartbeat {
  SessionId session;
  int64_t number = 0;
  std::vector<AttemptKey> attempts;  // whose lease it renews
};

struct Records {
  SessionId session;
  AttemptKey attempt;
  std::vector<TrainerRecord> records;  // in order, without gaps
};

struct StartedRank {
  int64_t rank = 0;
  int64_t pid = 0;      // 0: not known
  std::string address;  // for the other ranks; empty: not known yet
};

struct AttemptStarted {
  SessionId session;
  AttemptKey attempt;
  std::string dataset_path;
  std::string device;
  int64_t pid = 0;  // of its first trainer there; 0: not known
  std::vector<StartedRank> ranks = {};  // there, where there are several
};

/// The agent holds it and cannot start it yet.
struct AttemptWaiting {
  SessionId session;
  AttemptKey attempt;
  std::string message;
  bool is_ready = false;  // it waits for the ranks on other nodes alone
};

struct AttemptRefused {
  SessionId session;
  AttemptKey attempt;
  FailureKind kind = FailureKind::kCrash;
  std::string message;
};

struct AttemptEnded {
  SessionId session;
  AttemptKey attempt;
  int64_t last_sequence = 0;  // of the records sent before; 0: unknown
  int32_t exit_code = 0;
  int32_t signal = 0;
  std::optional<FailureKind> kind;
  std::string message;
};

/// Time has passed.
struct Tick {};

/// The next part is due of what is done in several.
struct CarryOn {};

using Command =
    std::variant<SubmitSweep, CancelTarget, RetryTargets, PauseSweep,
                 ResumeSweep, EditSweep, RemoveTargets, LookAtSweep,
                 ExplainTarget, LookAtNodes, ClearNode, ClientsWantWork,
                 NodeRegistered, NodeLost, Heartbeat, Records, AttemptStarted,
                 AttemptWaiting, AttemptRefused, AttemptEnded, Tick, CarryOn>;

}  // namespace leadline::control
