// The agent: one loop that hears the coordinator, its data thread and the
// signals, and lets its logic decide.

#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <variant>

#include "common/log.h"
#include "worker/agent/agent_logic.h"
#include "worker/agent/data_thread.h"
#include "worker/agent/local_host.h"
#include "worker/agent/mailbox.h"
#include "worker/agent/session.h"

namespace leadline::agent {

struct AgentOptions {
  AgentIdentity identity;
  AgentPolicy policy;
  std::filesystem::path trainer;  // the program
  SessionOptions session;
  bool receives_orphans = false;  // see ReceiveOrphans
  SpoolPolicy spool;
  std::filesystem::path checkpoints;  // absolute; one folder a cohort
  std::string nvml;                   // see LocalHost
};

class Agent {
 public:
  Agent(AgentOptions options, FindData find, Log& log);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Runs until Stop, or until there is no more reason to. Its trainers have
  /// ended when it returns. OK after an orderly end. Called once.
  absl::Status Run();

  /// From any thread: ends trainers and agent.
  void Stop();

 private:
  struct StopWanted {};
  using Input =
      std::variant<SessionEvent, DataFound, DataNews, FilesWeighed, StopWanted>;

  /// One input, or none by `deadline`; then what is due.
  void TakeTurn(SteadyTime deadline);
  void Leave();
  void TellRemoved(SweepId sweep, const RemovedFiles& removed);

  const AgentOptions options_;
  Log& log_;
  Mailbox<Input> inputs_;
  LocalHost host_;
  bool stop_wanted_ = false;
  std::unique_ptr<DataThread> data_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<AgentLogic> logic_;
};

}  // namespace leadline::agent
