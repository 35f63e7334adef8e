// One attempt this agent holds: its folder, its trainer, its event file.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "common/ids.h"
#include "leadline/v1/worker_service.pb.h"
#include "worker/agent/attempt_host.h"
#include "worker/agent/end_report.h"
#include "worker/agent/local_ranks.h"
#include "worker/agent/record_batches.h"
#include "worker/agent/record_window.h"
#include "worker/agent/stop_schedule.h"

namespace leadline::agent {

using SteadyTime = std::chrono::steady_clock::time_point;

/// Held from the order to start it until the coordinator has its end on disk.
/// Owned by one thread; time is passed in.
class HeldAttempt {
 public:
  HeldAttempt(AttemptKey key, HoldRecord hold, AttemptHost& host,
              HangPolicy hang);
  /// Of a former agent, taken over.
  HeldAttempt(FoundAttempt found, AttemptHost& host, HangPolicy hang,
              SteadyTime now);

  const AttemptKey& key() const { return key_; }
  const std::vector<std::string>& devices() const { return hold_.devices; }
  const HoldRecord& hold() const { return hold_; }

  /// Starts the trainers of an attempt renewed at that time; errors of
  /// AttemptHost::Start.
  absl::Status Start(const TrainerOrder& order, SteadyTime renewed_at,
                     SteadyTime now);

  /// Process id of the first trainer; 0 before it was started.
  pid_t pid() const { return ranks_ ? ranks_->pid() : 0; }
  /// Process ids and addresses by rank, as far as they are known.
  std::vector<v1::StartedRank> Ranks() const;
  int64_t CountAddresses() const {
    return ranks_ ? ranks_->CountAddresses() : 0;
  }

  /// Where all ranks listen, by rank: its trainers are told.
  void SetPeers(const std::vector<std::string>& peers) {
    if (ranks_) ranks_->SetPeers(peers);
  }

  /// The coordinator renewed it as of then: so does the trainer's order socket.
  void Renew(SteadyTime as_of);

  /// Begins to end it, unless that has begun.
  void Stop(std::string reason, StopPatience patience, SteadyTime now);
  /// Likewise; what is being ended already may end quicker.
  void StopBecauseAgentEnds(StopPatience patience, SteadyTime now);
  bool IsStopping() const { return stopping_since_.has_value(); }

  /// Looks at the trainer and takes the step that is due.
  void Tick(SteadyTime now);

  /// True while its trainer is kept from running by a signal.
  bool IsSuspended() const { return !gone_ && ranks_ && ranks_->IsSuspended(); }

  /// What its trainer waits for, as it says; empty: nothing.
  std::string Waits() const {
    return gone_ || !ranks_ ? std::string() : ranks_->Waits();
  }

  /// True when no process of it is left: its devices are free.
  bool IsGone() const { return gone_; }

  /// The next records to send, at most so many, maybe none.
  absl::StatusOr<v1::RecordBatch> NextBatch(int most);

  /// From now on that record is sent as one that cannot be read: its place in
  /// the sequence stays. Counted, and told with the end.
  void LeaveOut(int64_t sequence) { left_out_.insert(sequence); }

  /// On a new stream: send what comes after `acknowledged`, again if need be.
  /// Null: the coordinator did not say.
  absl::Status SendAgainAfter(std::optional<int64_t> acknowledged);

  /// True if its work was broken off because the agent ends. That is no end to
  /// tell: the coordinator queues again what an agent does not hold.
  bool WasInterrupted() const;

  /// Of its event file, told or not; 0 where it cannot be read.
  int64_t CountRecords() const;

  /// What to say when it is gone and all its records are sent.
  v1::AttemptEnded Ending() const;

  /// The event file of an attempt that has gone cannot be read: give it up.
  void GiveUpEvents(std::string reason);

  RecordWindow window;
  bool ending_sent = false;  // on the stream that stands

 private:
  void Examine(const v1::TrainerRecord& record);
  void ExamineLast();
  void OpenRecords();
  void LookForProgress(SteadyTime now);
  void NoteGone();
  void TakeStep(StopStep step, SteadyTime now);

  AttemptKey key_;
  HoldRecord hold_;
  AttemptHost& host_;
  HangPolicy hang_;
  /// Once its trainers were started, if rank 0 is among them: others have no
  /// records to tell.
  std::optional<RecordReader> reader_;
  std::optional<LocalRanks> ranks_;  // likewise
  bool gone_ = false;
  SteadyTime renewed_at_{};
  std::optional<SteadyTime> stopping_since_;
  StopPatience patience_;
  StopStep step_ = StopStep::kNone;
  int64_t examined_ = 0;  // records whose evidence is taken
  std::set<int64_t> left_out_;
  std::string events_lost_;
  EndEvidence evidence_;
  int64_t ended_rank_ = 0;  // whose end it is
  std::string also_;        // beside it
};

}  // namespace leadline::agent
