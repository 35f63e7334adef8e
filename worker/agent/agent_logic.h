// What an agent decides: it keeps the attempts it holds, and hears and tells
// its coordinator. No threads, no clock, no processes of its own: all of that
// is passed in.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "common/log.h"
#include "common/repeated_news.h"
#include "model/spec/identity.h"
#include "worker/agent/agent_link.h"
#include "worker/agent/attempt_host.h"
#include "worker/agent/careful_sending.h"
#include "worker/agent/data_thread.h"
#include "worker/agent/devices.h"
#include "worker/agent/held_attempt.h"

namespace leadline::agent {

struct AgentIdentity {
  std::filesystem::path state;  // absolute
  std::string node;             // a name of people, or the host's
  std::string instance;         // fresh at every start
  /// Of the agent that had this state folder before; it has ended.
  std::string previous_instance;
  std::string host;
  std::string boot_id;
  std::string version;
  std::string commit;
  std::vector<HeldDevice> devices;
  /// Where ranks listen for those on other nodes; empty: where this machine is
  /// reached from the coordinator's.
  std::string collective_address = {};
};

struct AgentPolicy {
  /// Ends when the coordinator's stream has gone, or if none came to stand.
  bool is_private = false;
  /// How long a refusal, or (private) no coordinator, is borne at the start.
  std::chrono::milliseconds patience_at_start{30'000};
  // Of an attempt by order: it writes a checkpoint first.
  StopPatience stop{std::chrono::milliseconds(30'000),
                    std::chrono::milliseconds(10'000)};
  HangPolicy hang;
  /// Of one operation of several ranks; null: the trainer's own.
  std::optional<int64_t> collective_timeout_s{};
  /// With the agent itself, which whoever started it waits for.
  StopPatience last_stop{std::chrono::milliseconds(1000),
                         std::chrono::milliseconds(1000)};
};

/// Owned by one thread. What it is given must outlive it.
struct AgentParts {
  AttemptHost& host;
  AgentLink& link;
  DataRequests& data;
  Log& log;
};

class AgentLogic {
 public:
  /// Takes over what an agent before it held.
  AgentLogic(AgentIdentity identity, AgentPolicy policy, AgentParts parts,
             SteadyTime now);

  void Handle(SessionEvent event, SteadyTime now);
  void Handle(DataFound found, SteadyTime now);
  void Handle(const DataNews& news);
  void Handle(const FilesWeighed& weighed);

  /// Looks at its trainers, sends what they wrote, and beats.
  void Tick(SteadyTime now);

  /// When the next Tick is due at the latest.
  SteadyTime NextWake(SteadyTime now) const;

  /// Not null once there is no more reason to go on: OK, or what to tell
  /// whoever started it.
  const std::optional<absl::Status>& end() const { return end_; }

  /// The agent ends: no more work, and its trainers are ended.
  void Leave(SteadyTime now);
  bool AllGone() const;

  /// For tests and figures.
  std::vector<AttemptKey> Held() const;

 private:
  void OnOpened(int64_t stream, const StreamOpened& opened, SteadyTime now);
  void OnRendezvous(const v1::Rendezvous& rendezvous, SteadyTime now);
  void OnClosed(absl::Status status, SteadyTime now);
  void TellAway(const absl::Status& status,
                std::optional<std::chrono::milliseconds> ends_in,
                SteadyTime now);
  void BreakOff(absl::Status why);
  void OnMessage(v1::CoordinatorMessage message, SteadyTime now);
  void OnRegistered(const v1::Registered& registered, SteadyTime now);
  void Part(absl::Status why);
  void OnStart(v1::StartAttempt order, SteadyTime now);
  void OnRenewal(const v1::Renewal& renewal, SteadyTime now);
  void StopAttempt(const v1::Attempt& attempt, const std::string& reason,
                   StopPatience patience, SteadyTime now);
  void OnReadLog(const v1::ReadLogOrder& order);
  void AskForRemoved(SteadyTime now);
  void OnRemoved(const v1::RemovedSweeps& removed);
  void OnWeigh(const v1::WeighSweeps& order);

  void TakeOver(SteadyTime now);
  void NoteRefusal(const absl::Status& status);
  bool HasOutstanding() const;
  void Beat(SteadyTime now);
  bool SendRecords(HeldAttempt& attempt);
  void SendEnding(HeldAttempt& attempt);
  void Refuse(const v1::Attempt& attempt, const std::string& kind,
              const std::string& message);
  void TellStarted(const AttemptKey& key);
  void TellReady(const AttemptKey& key);
  void TellWaiting(const AttemptKey& key, const std::string& message,
                   bool is_ready);
  void Send(v1::AgentMessage message);
  v1::Register Introduction() const;
  std::string WhyNotStart(const v1::StartAttempt& order) const;
  HeldAttempt* Find(const v1::Attempt& attempt);

  /// What waits for its data, and for a renewal asked for after the order came:
  /// an order may have waited longer than it was good for.
  struct Pending {
    v1::StartAttempt order;
    spec::TrainerConfig config;
    SteadyTime taken_at;
    int64_t device_bytes;  // that must be free on each of its devices
    std::optional<std::string> data;  // its path, once found
    bool may_start = true;  // all other nodes with ranks of it are ready too
    bool is_ready = false;  // and these ranks, where they wait for others
    std::string occupied = {};  // why it does not fit on its devices, as told
  };

  struct HeldEntry {
    std::unique_ptr<HeldAttempt> attempt;
    std::optional<Pending> pending;
    /// When the last heartbeat was sent whose answer renewed it.
    std::optional<SteadyTime> confirmed_at;
    bool is_suspended = false;  // as it was logged last
    std::string waits;          // as it was told last on the stream that stands
    bool is_let_go = false;
    int64_t told_addresses = 0;  // how many of its ranks, on this stream
  };

  void StartIfDue(HeldEntry& held, SteadyTime now);
  void StartThoseDue(SteadyTime now);
  bool HasDevicesFree(HeldEntry& held);
  TrainerOrder OrderFor(const HeldEntry& held, Pending pending) const;
  std::string ListenAddress(const HoldRecord& hold) const;
  void NoteSuspension(HeldEntry& held);
  void TellWaits(HeldEntry& held);
  /// Nothing more is told of it; what its trainer wrote stays where it is.
  void LetGo(HeldEntry& held);
  bool IsFresh(SteadyTime sent, SteadyTime now) const;

  const AgentIdentity identity_;
  const AgentPolicy policy_;
  AttemptHost& host_;
  AgentLink& link_;
  DataRequests& data_;
  Log& log_;
  std::map<AttemptKey, HeldEntry> held_;
  CarefulSending careful_;
  int64_t stream_ = 0;         // 0: none stands
  std::string local_address_;  // on it
  bool registered_ = false;    // on the stream that stands
  bool was_registered_ = false;
  bool leaving_ = false;
  std::optional<absl::Status> end_;
  std::optional<absl::Status> broken_off_;  // the stream that stands, and why
  RepeatedNews news_;                       // of the coordinator
  int64_t tries_ = 0;                       // since it was registered last
  SteadyTime started_at_;
  SteadyTime heard_at_{};  // the coordinator said something
  SteadyTime next_beat_{};
  SteadyTime next_question_{};  // which sweeps were removed
  int32_t coordinator_protocol_ = 1;
  int64_t beats_ = 0;
  std::map<int64_t, SteadyTime> unanswered_;  // heartbeats, by number
  std::chrono::milliseconds heartbeat_{1000};
  std::chrono::milliseconds lease_{15'000};
};

}  // namespace leadline::agent
