// What the coordinator knows. The durable half is a fold over committed changes
// and so the same before and after a restart; the rest is what agents said
// since they connected.

#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/control/command.h"
#include "coordinator/control/moment.h"
#include "coordinator/control/outcome.h"
#include "coordinator/control/waiting_lines.h"
#include "storage/store.h"

namespace leadline::control {

/// The ranks of a live attempt that one node holds.
struct LivePart {
  std::string node;
  std::vector<std::string> devices;
  int64_t first_rank = 0;
  int64_t ranks = 1;
  // Observed:
  SteadyTime renewed{};     // its lease runs from here
  bool is_heard = false;    // since its node was missed
  bool has_ended = false;   // its agent says that its processes are gone
  bool is_lost = false;     // nobody holds it, and nobody need be told
  bool is_ready = false;    // it has all it needs but the other parts
  std::string waiting_for;  // why its trainers have not begun, where known
  std::vector<std::string> addresses{};  // by rank; empty: not known yet
};

/// Ranks ended because others were gone or stood still: which and why may be
/// told a moment later.
struct Suspicion {
  FailureKind kind = FailureKind::kNccl;
  std::string message;
  std::string node;
  SteadyTime until{};  // then it is believed
};

/// An attempt without an end.
struct LiveAttempt {
  storage::AttemptRecord record;
  /// In the order of their ranks. It lives while each of them does, and its end
  /// is acknowledged to all of their agents at once.
  std::vector<LivePart> parts{};
  // Observed:
  std::optional<Suspicion> suspicion{};
  int64_t step = 0;
  std::optional<SteadyTime> first_step_at;
  bool vouched = false;  // for its node
  double tokens_per_second = 0;
  std::optional<SteadyTime> recorded_at;  // the last record of its trainer
  std::optional<TrainerEnd> end;          // what its trainer said last

  LivePart* PartOn(const std::string& node);
  const LivePart* PartOn(const std::string& node) const;
  bool AllHeard() const;  // of those that have not ended
  bool AllEnded() const;
  SteadyTime Renewed() const;      // the part that was renewed first
  std::string WaitingFor() const;  // "NODE is fetching ..."; empty: nothing
};

/// What the record says of its parts.
std::vector<LivePart> PartsOf(const storage::AttemptRecord& record);

struct Cohort {
  storage::CohortRecord record;
  std::vector<storage::TrialRecord> trials;  // by replica
  std::optional<LiveAttempt> live;
  // Observed:
  std::optional<SteadyTime> retry_at;
  std::string retry_reason;
  SteadyTime restarts_counted_at{};    // when free_restarts was right
  std::optional<SteadyTime> ended_at;  // its last attempt
  std::string old_ends;  // why it waits for that to end; empty: it does not
  /// Where its last attempt may live on, which was cancelled before this
  /// coordinator began, unless those nodes have registered since.
  std::set<std::string> cancelled_on;
  WaitingPlace place{};

  bool HasOpenTrial() const;
  bool HasHeldTrial() const;  // by its live attempt
  bool Waits() const;         // no attempt holds it, and a trial is queued
};

/// Copies of its trials in such a state: moving them must not disturb a walk.
std::vector<storage::TrialRecord> TrialsWhere(const Cohort& cohort,
                                              bool (*is_meant)(TrialState));

struct Cell : CellNeeds {
  storage::CellRecord record;
  std::vector<Cohort> cohorts;
};

/// Of all trials: planned, and of those that have ended.
struct Work {
  double planned = 0;
  double ended = 0;
};

/// Work done at some moment, for the estimate of the time left.
struct WorkSample {
  SteadyTime at;
  double done = 0;
};

/// How far it is.
struct Errand {
  storage::ErrandRecord record;
  // Observed; what comes before has been done:
  size_t cell = 0;
  size_t cohort = 0;
};

struct Sweep {
  storage::SweepRecord record;
  std::vector<Cell> cells;
  std::array<int64_t, kTrialStates.size()> trials{};  // by state
  Work work;                                          // as of its cells
  Work steps;                                         // likewise
  /// The first is carried out. Until all are, nothing of the sweep starts.
  std::deque<Errand> errands{};
  // Observed:
  std::deque<Failure> failures;  // the newest
  int64_t failures_seen = 0;
  std::string waiting_for;
  bool can_run = false;
  std::deque<WorkSample> samples;
  std::optional<SteadyTime> ended_at;

  int64_t Count(TrialState state) const;
  int64_t CountEnded() const;
  int64_t CountPlanned() const;
  int64_t CountOpen() const;  // that have not ended
};

/// An agent, connected or not.
struct Node {
  std::string name;
  std::string instance;
  std::optional<SessionId> session;
  std::optional<Moment> connection;  // when the last one began; null: none did
  AgentFacts agent;
  bool takes_gangs = true;  // its agent knows of several ranks
  SteadyTime heard;
  std::optional<SteadyTime> lost_at{};  // its connection, when that was noticed
  std::vector<DeviceInfo> devices;
  /// Devices are taken until the agent says that the attempt's processes are
  /// gone, even where the attempt counts no more.
  std::map<AttemptKey, std::vector<std::string>> held;
  /// Records kept apart of what counts no more, by attempt.
  std::map<AttemptKey, int64_t> late_records;
  std::optional<NodeRegistered> rival;  // bears its name; waits for its end
  storage::NodeRecord record;           // what is held against it
  SteadyTime closed_until{};            // where it is in quarantine
};

struct State {
  std::map<SweepId, Sweep> sweeps;
  /// What is left of those that are not remembered any more: freeing all of a
  /// large one at once would hold everybody up.
  std::vector<std::vector<Cell>> forgotten{};
  std::map<std::string, Node> nodes;
  std::map<SessionId, std::string> sessions;  // name of its node
  std::set<CohortId> waiting;
  WaitingLines lines;  // the same, put in order by SortIn
  std::set<CohortId> live;
  SweepId next_sweep{1};
  bool work_wanted = true;
  bool must_place = false;  // something a placement rests on has moved
  SteadyTime planned_at{};  // when it was last decided what starts
  SteadyTime began{};       // since when agents could register
  /// Some were connected before, in the time of another coordinator or until
  /// the last of them was lost: which of them come back nobody knows.
  bool agents_may_return = false;
  /// Since when some agent has been connected; null while none is.
  std::optional<SteadyTime> served_since;
  /// Cohorts and lines of them that placement and ticks have looked at so far:
  /// what those cost, whatever the machine's speed.
  int64_t looked_at = 0;

  Sweep* FindSweep(SweepId id);
  Cell* FindCell(CellId id);
  Cohort* FindCohort(CohortId id);
  storage::TrialRecord* FindTrial(TrialId id);
  /// Null unless that very attempt is live.
  LiveAttempt* FindLive(const AttemptKey& key);
  /// Likewise, and null unless the node of that session holds ranks of it: no
  /// agent may speak for another's.
  LiveAttempt* FindLive(const AttemptKey& key, SessionId session);
  LivePart* FindPart(const AttemptKey& key, SessionId session);
  Node* FindNode(SessionId session);

  int64_t CountLive(SweepId sweep) const;  // attempts
  /// A copy: what is done with them changes the set.
  std::vector<CohortId> LiveOf(SweepId sweep) const;
  bool IsWaiting(SweepId sweep) const;  // some cohort of it
};

}  // namespace leadline::control
