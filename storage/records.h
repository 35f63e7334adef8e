// What the store holds, as plain values.

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/determinism.h"
#include "common/experiment.h"
#include "common/ids.h"

namespace leadline::storage {

/// Wall time, for display alone: nothing is decided by it.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

/// 2026-11-29T15:04:05Z
std::string ToText(WallTime time);

struct SweepRecord {
  SweepId id;
  std::string name;  // a label, need not be unique
  std::string description;
  std::string user;
  std::string source;          // the sweep file as it was given
  std::string canonical_hash;  // of the canonical sweep, name left out
  SweepState state = SweepState::kActive;
  WallTime submitted_at{};
  int64_t priority = 0;
  std::optional<int64_t> parallel_limit;  // attempts at once
  std::optional<int64_t> failure_limit;   // failed trials that end the sweep
  /// Trials that fail one after the other, none succeeding or diverging in
  /// between.
  std::optional<int64_t> failure_row_limit;
  OnFailures on_failures = OnFailures::kStop;
  int64_t failures_in_row = 0;  // trials that failed since one got a result
  /// Which limit of failures was reached; nothing starts then. Empty if none
  /// was, or since a trial was queued again by people.
  std::string stopped_because;
  std::optional<WallTime> archived_at{};  // left out of lists since
  std::string note;
  std::vector<std::string> tags{};  // sorted

  bool operator==(const SweepRecord&) const = default;
};

/// The data a cell trains on; the path is where a user's file was found.
struct DatasetRecord {
  std::string name;
  std::string path;  // empty for registered data sets
  std::string content_hash;
  std::string tokenizer;
  std::array<double, 3> split{};
  std::optional<int64_t> vocabulary;

  bool operator==(const DatasetRecord&) const = default;
};

struct CellRecord {
  CellId id;
  std::string hash;           // identity: resolved settings and data
  std::string settings_json;  // resolved, all of them; keys sorted
  std::string axes_json;      // the cell's value on every axis, as text
  int64_t depth = 0;
  std::string dataset_label;
  std::string method_label;
  DatasetRecord dataset;
  std::string unit = "nats/char";
  std::optional<double> validation_floor;  // exact, in `unit`
  std::optional<double> test_floor;
  int64_t steps = 0;

  bool operator==(const CellRecord&) const = default;
};

/// All but `id` and `attempts` is its standing: what decides about its next
/// attempt, and so is stored with the end of the last.
struct CohortRecord {
  CohortId id;
  int64_t attempts = 0;         // number of the last one
  int64_t failures = 0;         // attempts that failed and used up a try
  int64_t failures_in_row = 0;  // of those, since one got further than any
  int64_t furthest_step = 0;    // of training, reached by an ended attempt
  int64_t spared = 0;           // failures put down to their node instead
  int64_t free_restarts = 0;    // that used up no try; forgotten with time
  int64_t memory_tried = 0;     // bytes it ran out of; 0: never, or not known
  /// Why its last attempt ended, if another is to follow: null while one is
  /// live and where none was.
  std::optional<FailureKind> waits_after{};
  std::vector<std::string> failed_nodes{};  // since it last got further; sorted

  bool operator==(const CohortRecord&) const = default;
};

struct TrialRecord {
  TrialId id;
  CohortId cohort;
  int64_t seed = 0;
  TrialState state = TrialState::kQueued;
  std::string reason;  // of the last move, in words; may be empty

  bool operator==(const TrialRecord&) const = default;
};

/// One process of an attempt.
struct RankRecord {
  std::string node;
  std::vector<std::string> devices;  // it holds there
  int64_t pid = 0;                   // 0: not known

  bool operator==(const RankRecord&) const = default;
};

struct AttemptRecord {
  AttemptKey key;
  std::string node;      // of its ranks: names in their order, joined by "+"
  std::string instance;  // of the agent; of rank 0
  std::string device;    // "cpu", "cuda:0"; empty until it started
  std::vector<std::string> devices;  // held, in the order of its ranks
  std::string numerics;              // "fused-fp32"
  std::string version;
  std::string commit;
  std::string libraries;
  std::string dataset_path;  // where its trainer opened the data
  int64_t threads = 0;
  int64_t parameters = 0;
  int64_t last_sequence = 0;  // records up to here are stored
  int64_t step = 0;           // of training, the furthest among them
  WallTime started_at{};
  std::optional<WallTime> ended_at;
  AttemptOutcome outcome = AttemptOutcome::kLive;
  std::optional<FailureKind> kind;
  std::string message;
  std::string stop_reason;  // it was asked to stop, and why; empty: it was not
  std::vector<RankRecord> ranks{};  // by rank

  bool operator==(const AttemptRecord&) const = default;
};

/// What is held against a node: attempts that failed there as broken machines
/// make them fail. A node with nothing against it has no record.
struct NodeRecord {
  std::string name;
  /// Failures in a row, whatever the cohort, the newest last.
  std::vector<AttemptKey> failures;
  bool quarantined = false;  // takes no work but a canary
  std::string reason;        // of the quarantine, in words
  /// Quarantines and failed canaries since an attempt there succeeded: the wait
  /// for the next canary doubles with each.
  int64_t rounds = 0;
  std::optional<AttemptKey> canary;  // the one attempt it has on trial
  int64_t failed_canaries = 0;       // in a row
  /// Canaries failed where no other node could tell the machine from the code:
  /// its failures count against the cohorts until an attempt succeeds.
  bool undecided = false;

  bool IsClean() const {
    return failures.empty() && !quarantined && rounds == 0 && !undecided;
  }
  bool operator==(const NodeRecord&) const = default;
};

/// The one result of a trial. Losses may be non-finite.
struct ResultRecord {
  TrialId trial;
  AttemptKey attempt;
  double validation_loss = 0;
  std::optional<double> test_loss;
  std::optional<double> best_validation_loss;
  std::optional<int64_t> best_step;
  std::string unit = "nats/char";
  int64_t steps = 0;
  int64_t tokens = 0;
  double seconds = 0;
  int64_t peak_bytes = 0;
  int64_t parameters = 0;
  Determinism determinism = Determinism::kUnknown;

  bool operator==(const ResultRecord&) const = default;
};

/// One value of a curve. Values may be non-finite and read back as they are.
struct Point {
  TrialId trial;
  std::string metric;
  int64_t step = 0;
  double value = 0;

  bool operator==(const Point&) const = default;
};

/// Mean weights of one router over its sources.
struct RouterRow {
  std::vector<std::string> sources;
  std::vector<double> weights;

  bool operator==(const RouterRow&) const = default;
};

/// Routing of one trial at one evaluation.
struct RoutingRecord {
  TrialId trial;
  int64_t step = 0;
  std::vector<RouterRow> map;  // by router; a router's number is its index
  std::map<std::string, std::vector<double>> statistics;  // one value a router

  bool operator==(const RoutingRecord&) const = default;
};

/// Per-window losses of a fixed evaluation, for paired differences.
struct WindowLosses {
  TrialId trial;
  int64_t step = 0;
  std::string split;
  std::vector<double> losses;

  bool operator==(const WindowLosses&) const = default;
};

/// A record of a superseded attempt: kept for inspection, part of nothing.
struct OrphanRecord {
  AttemptKey attempt;
  int64_t sequence = 0;
  std::string text;

  bool operator==(const OrphanRecord&) const = default;
};

}  // namespace leadline::storage
