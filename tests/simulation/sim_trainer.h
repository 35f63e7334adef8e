// A trainer as a process: it writes event lines, hears orders, can be stopped,
// killed and starved, and ends itself when it has heard nothing for too long.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chance.h"
#include "clockwork.h"
#include "oracle.h"
#include "sim_gang.h"
#include "worker/agent/attempt_host.h"

namespace leadline::simulation {

/// A learning rate that no store takes.
inline constexpr double kPoison = -77;

/// The event file: it outlives trainer and agent.
struct EventFile {
  std::vector<std::string> lines;
  bool disk_is_full = false;  // shared by all of a node: set by it
};

/// What its code and its machine make of it.
enum class TrainerFate {
  kTrains,
  kDiesAtStart,
  kCrashes,  // at its first step; likewise the next
  kRunsOutOfMemory,
};

/// What the trainer was told.
struct TrainerJob {
  AttemptKey attempt;
  int64_t node = 0;
  std::vector<int64_t> seeds;
  std::vector<std::string> devices;
  bool watches_silence = true;
  int64_t rank = 0;
  /// Of an attempt of several ranks; null otherwise.
  std::shared_ptr<SimGang> gang;
  bool misses_ranks = true;  // that are gone
  TrainerFate fate = TrainerFate::kTrains;
};

class SimProcess : public std::enable_shared_from_this<SimProcess> {
 public:
  SimProcess(TrainerJob job, int64_t pid, std::shared_ptr<EventFile> events,
             Clockwork& clockwork, Chance& chance, Oracle& oracle);

  void Begin();

  const TrainerJob& job() const { return job_; }
  int64_t pid() const { return pid_; }
  bool IsGone() const { return status_.has_value(); }
  const std::optional<agent::ExitStatus>& status() const { return status_; }

  void Signal(int signal);
  /// By the kernel; its log names it, or counts it only.
  void KillForMemory(bool is_named);
  agent::Activity Look() const;
  agent::EndTraces Traces() const;
  bool SendOrder(std::string_view order, SteadyTime as_of);

  /// SIGSTOP, and SIGCONT after a time.
  void Stall(Duration time);
  /// A failure of its own, at its next step.
  void Break(const char* kind, const char* message) {
    breaks_by_ = kind;
    says_ = message;
  }
  /// Its next step measures what the store cannot take.
  void Poison() { poisons_ = true; }

  // For the other ranks:
  bool has_joined() const { return has_joined_; }
  const std::optional<SteadyTime>& stalled_since() const {
    return stalled_since_;
  }
  /// It passes the last barrier. False if it cannot say so.
  bool EndWell();
  std::optional<std::string> Address() const;

 private:
  void Live(Duration after, void (SimProcess::*what)());
  void Resume();
  void Start();
  void AwaitPeers();
  void Follow();
  bool MayGoOn(void (SimProcess::*again)());
  void Step();
  void Watch();
  void Hear(const std::string& order, SteadyTime as_of);
  void EndFailed(const char* kind, const char* message);
  void EndAsTold();
  void Finish();
  /// False, and the process gone, if the disk is full.
  bool Write(const std::string& line);
  void Exit(int code, int signal);

  TrainerJob job_;
  int64_t pid_;
  std::shared_ptr<EventFile> events_;
  Clockwork& clockwork_;
  Chance& chance_;
  Oracle& oracle_;
  bool listens_ = false;
  const char* breaks_by_ = nullptr;  // a kind of failure
  const char* says_ = "";
  bool poisons_ = false;
  agent::OomEvidence oom_ = agent::OomEvidence::kNone;
  bool found_disk_full_ = false;
  int64_t step_ = 0;
  int64_t steps_ = 0;
  Duration step_time_{};
  std::optional<int64_t> diverges_at_;  // its first replica
  bool has_joined_ = false;
  SteadyTime began_at_{};
  std::optional<SteadyTime> stalled_since_;
  std::optional<SteadyTime> stalled_until_;
  std::deque<std::pair<std::string, SteadyTime>>
      unheard_;                                 // orders, while it is stalled
  std::vector<void (SimProcess::*)()> undone_;  // what was due meanwhile
  SteadyTime heard_at_{};
  std::optional<agent::ExitStatus> status_;
};

}  // namespace leadline::simulation
