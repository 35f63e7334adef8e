// What an agent needs of its machine to keep attempts: where trainers live and
// what they wrote.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>
#include <sys/types.h>

#include "common/ids.h"
#include "worker/agent/event_tail.h"
#include "worker/agent/file_keeper.h"
#include "worker/agent/hold_record.h"
#include "worker/agent/oom_evidence.h"
#include "worker/agent/pace.h"

namespace leadline::agent {

/// How a process ended; as it stands here nobody knows.
struct ExitStatus {
  int code = -1;   // -1 if a signal ended it
  int signal = 0;  // 0 if it exited

  bool IsKnown() const { return code >= 0 || signal != 0; }
};

/// What else tells why a trainer ended.
struct EndTraces {
  OomEvidence oom = OomEvidence::kNone;
  std::string last_words = {};  // end of its standard error
  /// Its event file ends in the middle of a line.
  bool is_torn = false;
  /// What may still be written where its folder lies; null: unknown.
  std::optional<int64_t> free_bytes = {};
};

/// One trainer and whatever it started. Owned by one thread.
class Trainer {
 public:
  virtual ~Trainer() = default;

  virtual pid_t pid() const = 0;

  /// Looks once, without waiting. True when every process of it has ended; from
  /// then on status() is there and signals are not sent.
  virtual bool IsGone() = 0;

  /// How the trainer itself ended; null while it lives.
  virtual const std::optional<ExitStatus>& status() const = 0;

  /// To all its processes.
  virtual void Signal(int signal) = 0;

  /// "renew", "stop"; a trainer that reads it late counts it from `as_of`.
  /// False if it does not listen (yet), or reads too slowly.
  virtual bool SendOrder(std::string_view order,
                         std::chrono::steady_clock::time_point as_of) = 0;

  /// The order "peers": where each rank listens. False likewise.
  virtual bool SendPeers(const std::vector<std::string>& peers,
                         std::chrono::steady_clock::time_point as_of) = 0;

  /// What it does, while it lives.
  virtual Activity Look() = 0;

  /// HOST:PORT where it listens for the other ranks; null while it does not
  /// say.
  virtual std::optional<std::string> Address() const = 0;

  /// Once it is gone.
  virtual EndTraces Traces() const = 0;
};

/// One rank to start here.
struct RankOrder {
  int64_t rank = 0;
  std::string config;
  std::vector<std::string> devices;
};

/// What the trainers of an attempt are started with.
struct TrainerOrder {
  std::vector<RankOrder> ranks;  // one after another, at least one
  int64_t threads = 1;           // of each
  int64_t disk_bytes = 0;        // that its checkpoints may take
  HoldRecord hold;               // for a later agent
};

/// An attempt that a former agent held and whose end was not acknowledged.
struct FoundAttempt {
  AttemptKey key;
  HoldRecord hold;
  std::vector<std::unique_ptr<Trainer>>
      trainers;  // by rank; maybe gone already
  /// It was being broken off because the agent ended.
  bool interrupted = false;
  /// The machine was started anew since: what ended it was no fault of its own.
  bool machine_restarted = false;
};

/// Owned by one thread.
class AttemptHost {
 public:
  virtual ~AttemptHost() = default;

  /// Where an attempt keeps its files; its first rank here has no other folder.
  virtual std::string Folder(const AttemptKey& attempt) const = 0;

  /// Checkpoints that earlier attempts of its cohort left here for it to go on
  /// from; null where there are none.
  virtual std::optional<std::string> ResumeFrom(
      const AttemptKey& attempt) const = 0;

  /// Why a trainer that needs so many bytes on each of these devices should not
  /// start now: somebody else uses them. Empty if it may, or if nobody can
  /// tell; null: not known yet, ask again soon. Does not wait. What was seen
  /// before `since` does not count: it may have been ours.
  virtual std::optional<std::string> WhyNotOn(
      const std::vector<std::string>& devices, int64_t bytes,
      std::chrono::steady_clock::time_point since) = 0;

  /// Makes the folders, writes the configurations into them and starts a
  /// trainer a rank, all of them or none. The attempt is held from then on,
  /// however the agent ends, until Release. Unavailable: the disk says no.
  /// FailedPrecondition: the program cannot be executed.
  virtual absl::StatusOr<std::vector<std::unique_ptr<Trainer>>> Start(
      const AttemptKey& attempt, const TrainerOrder& order) = 0;

  /// What the trainer of that rank writes, from its first line.
  virtual std::unique_ptr<EventLines> Events(const AttemptKey& attempt,
                                             int64_t rank) = 0;

  /// What is held, to be asked once at the start.
  virtual std::vector<FoundAttempt> FindHeld() = 0;

  /// The agent begins to break it off because it ends itself.
  virtual void MarkInterrupted(const AttemptKey& attempt) = 0;

  /// Nothing more is to be told of it: no later agent finds it.
  virtual void Release(const AttemptKey& attempt) = 0;

  /// Sweeps of which files are kept, those of held attempts among them.
  virtual std::vector<SweepId> KeptSweeps() const = 0;

  /// Soon removes what is kept of that sweep and not held.
  virtual void RemoveFiles(SweepId sweep) = 0;

  /// Is answered later, by a FilesWeighed of that tag, or never.
  virtual void WeighFiles(WeighingTag tag, std::vector<SweepId> sweeps) = 0;
};

}  // namespace leadline::agent
