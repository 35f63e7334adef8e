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
#include "script.h"
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
  void StallProcess(Duration time);
  void JumpWall(Duration by) { wall_offset_ += by; }
  /// Asks until it is answered, under one request id.
  void Submit(const SweepPlan& plan, int64_t number);
  /// Its user cancels one of the sweeps that are not over, or one of its cells
  /// or trials; asks until it is answered. False if there is none.
  bool Cancel(int64_t which);

  // The network's end of it.
  bool Accept(const std::shared_ptr<Wire>& wire);
  void Carry(const std::shared_ptr<Wire>& wire, v1::AgentMessage message);
  /// The agent's end is gone: here it is noticed after a while, if at all.
  void HearEndOf(const std::shared_ptr<Wire>& wire);
  /// The link of a node went dead under its streams.
  void CutWiresOf(int64_t node);

  bool IsUp() const { return cycle_ != nullptr; }
  int64_t unanswered() const { return unanswered_; }
  /// Why nothing of a sweep that waits is running; throws Violation where
  /// nobody says.
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
  };

  void AskToCancel(const control::Target& target, int64_t request);
  void InProcess(std::function<void()> action);
  void Later(Duration delay, std::function<void()> action);
  void Turn();
  void Post(control::Command command, control::Answered answered);
  void Read(int64_t session);
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
  int64_t life_ = 0;
  int64_t sessions_begun_ = 0;
  std::map<int64_t, Session> sessions_;
  std::unique_ptr<control::CommitCycle> cycle_;
  std::deque<control::Envelope> inbox_;
  bool turn_is_due_ = false;
  SteadyTime turn_at_{};
  bool stalled_ = false;
  SteadyTime stalled_until_{};
  std::deque<std::function<void()>> undone_;
  int64_t unanswered_ = 0;  // of the users' requests
  int64_t cancels_ = 0;
};

}  // namespace leadline::simulation
