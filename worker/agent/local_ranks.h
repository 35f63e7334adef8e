// The ranks of one attempt on this machine: a trainer each, that live and end
// together.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "common/ids.h"
#include "leadline/v1/worker_service.pb.h"
#include "worker/agent/attempt_host.h"
#include "worker/agent/pace.h"

namespace leadline::agent {

/// Owned by one thread; time is passed in.
class LocalRanks {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// One trainer a rank of `hold`, which runs or has run.
  LocalRanks(AttemptKey key, const HoldRecord& hold, AttemptHost& host,
             HangPolicy policy, std::vector<std::unique_ptr<Trainer>> trainers,
             SteadyTime now);

  pid_t pid() const { return ranks_.front().trainer->pid(); }

  /// By rank, as far as they are known.
  std::vector<v1::StartedRank> Describe() const;
  int64_t CountAddresses() const;

  /// Looks at all of them once. True when every process of each has ended.
  bool IsGone(SteadyTime now);

  /// True once the others must be ended: one ended without success, or all
  /// have ended and left processes behind. What ended because of ranks
  /// elsewhere waits a moment, since the cause may be here.
  bool MustEnd(SteadyTime now) const;

  /// Why they must be taken to hang. Judged by the rank that writes records:
  /// others write none, and one that stands still halts it too.
  std::optional<std::string> WhyHung(SteadyTime now);
  /// It was known to wait so long between two records before.
  void NoteWait(std::chrono::milliseconds wait);
  /// What the rank that writes records waits for, as it says; empty: nothing.
  const std::string& Waits() const { return pace_.waits(); }
  /// One of them is kept from running by a signal.
  bool IsSuspended() const;

  void Renew(SteadyTime as_of);
  /// Asks all to stop; true once each has heard it.
  bool AskToStop(SteadyTime now);
  /// To all their processes.
  void Signal(int signal);
  /// Where all ranks listen, by rank: told to each until it has heard it.
  void SetPeers(const std::vector<std::string>& peers);

  /// How it ended, once it is gone: of the rank that ended badly first, what
  /// ended only because of others coming last; of the first one if none did.
  struct End {
    int64_t rank = 0;
    ExitStatus status;
    std::optional<v1::EndRecord> record;  // its last word
    EndTraces traces;
    std::string also;  // what is to be told beside it
  };
  End HowEnded() const;

 private:
  struct Rank {
    int64_t number = 0;
    std::unique_ptr<Trainer> trainer;
    std::optional<SteadyTime> ended_at{};
    std::optional<v1::EndRecord> record{};
    bool ended_well = false;
    bool was_told = false;  // by us, to end
    bool heard_stop = false;
    bool heard_peers = false;
    bool is_stopped = false;  // by a signal
    std::optional<std::string> address{};
  };

  void LookAt(Rank& rank, SteadyTime now);
  void TellPeers(SteadyTime now);
  static bool IsConsequence(const Rank& rank);
  const Rank* FirstToFail() const;

  AttemptKey key_;
  AttemptHost& host_;
  Pace pace_;
  std::vector<Rank> ranks_;
  int64_t world_size_;
  std::vector<std::string> peers_;  // empty: not known
  std::string stopped_beside_;      // ranks that stood still as another failed
};

/// What that rank said last, where that is how it ended.
std::optional<v1::EndRecord> ReadEndRecord(AttemptHost& host,
                                           const AttemptKey& attempt,
                                           int64_t rank);

}  // namespace leadline::agent
