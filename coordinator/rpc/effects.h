// Where decisions of control go out: to agents and to those who watch.

#pragma once

#include "coordinator/control/sinks.h"
#include "coordinator/rpc/agent_sessions.h"
#include "coordinator/rpc/watchers.h"

namespace leadline::rpc {

class Effects final : public control::EffectSink {
 public:
  Effects(AgentSessions& sessions, Watchers& watchers)
      : sessions_(sessions), watchers_(watchers) {}

  void Deliver(const control::AgentOrder& order) override {
    sessions_.Deliver(order);
  }
  void CloseAllSessions(const absl::Status& status) override {
    sessions_.CloseAll(status);
  }
  bool IsWatched(SweepId sweep) override { return watchers_.IsWatched(sweep); }
  void Publish(const control::ProgressReport& report) override {
    watchers_.Publish(report);
  }

 private:
  AgentSessions& sessions_;
  Watchers& watchers_;
};

}  // namespace leadline::rpc
