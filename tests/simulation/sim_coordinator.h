// The coordinator as a process: its commit cycle on a store that outlives it,
// and one session a stream.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "coordinator/control/commit_cycle.h"
#include "network.h"
#include "oracle.h"
#include "process_life.h"
#include "sim_node.h"
#include "sim_store.h"

namespace leadline::simulation {

class SimCoordinator final : public control::EffectSink {
 public:
  SimCoordinator(Surroundings around, SimStore& store);

  /// Before anything happens.
  void Connect(std::vector<SimNode*> nodes) { nodes_ = std::move(nodes); }

  void StartProcess();
  void CrashProcess();
  void StallProcess(Duration time) { life_.Stall(time); }
  void JumpWall(Duration by) { wall_offset_ += by; }
  /// Not while it is down or stopped.
  bool IsAwake() const { return life_.IsAwake(); }
  void Post(control::Command command, control::Answered answered);
  std::vector<SweepId> ActiveSweeps() const;

  // The network's end of it.
  bool Accept(const std::shared_ptr<Wire>& wire);
  void Carry(const std::shared_ptr<Wire>& wire, v1::AgentMessage message);
  /// The agent's end is gone: here it is noticed after a while, if at all.
  void HearEndOf(const std::shared_ptr<Wire>& wire);
  /// The link of a node went dead under its streams.
  void CutWiresOf(int64_t node);

  bool IsUp() const { return cycle_ != nullptr; }
  /// Why a cohort waits, or nothing of a sweep is running; throws Violation
  /// where nobody says.
  void DemandReasons() const;
  bool HoldsNothing() const;

  // What the cycle does.
  void Deliver(const control::AgentOrder& order) override;
  void CloseAllSessions(const absl::Status& status) override;
  bool IsWatched(SweepId) override { return true; }
  void Publish(const control::ProgressReport&) override {}

 private:
  /// The far end of one stream.
  struct Session {
    std::shared_ptr<Wire> wire;
    std::deque<v1::AgentMessage> unread;
    bool reading = true;  // not waiting for an answer
    bool registered = false;
    std::string node;  // once it is welcome
  };

  void NoteGone(const Session& session) const;

  void Turn();
  void Read(int64_t session);
  void RefuseMessage(int64_t session, const absl::Status& status,
                     bool is_poison);
  absl::StatusOr<control::Command> Convert(int64_t id,
                                           const v1::AgentMessage& message);
  /// The planted defect: no fence.
  void TakeForLive(v1::AgentMessage& message) const;
  int64_t LiveNumber(const CohortId& cohort) const;
  void Close(int64_t session, const absl::Status& status);
  void End(int64_t session);
  control::Moment Now() const;

  Surroundings around_;
  SimStore& store_;
  std::vector<SimNode*> nodes_;
  Duration wall_offset_{};
  ProcessLife life_;
  int64_t sessions_begun_ = 0;
  std::map<int64_t, Session> sessions_;
  std::unique_ptr<control::CommitCycle> cycle_;
  std::deque<control::Envelope> inbox_;
  bool turn_is_due_ = false;
  SteadyTime turn_at_{};
};

}  // namespace leadline::simulation
