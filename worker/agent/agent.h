// The agent: one loop that hears the coordinator, its data thread and the
// signals, and keeps its attempts.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/log.h"
#include "model/spec/identity.h"
#include "worker/agent/data_thread.h"
#include "worker/agent/devices.h"
#include "worker/agent/held_attempt.h"
#include "worker/agent/mailbox.h"
#include "worker/agent/session.h"

namespace leadline::agent {

struct AgentOptions {
  std::filesystem::path state;    // absolute
  std::filesystem::path trainer;  // the program
  std::string node;               // a name of people, or the host's
  std::string instance;           // fresh at every start
  std::string host;
  std::string boot_id;
  std::string version;
  std::string commit;
  std::vector<HeldDevice> devices;
  SessionOptions session;
  /// Ends when the coordinator's stream has gone, or if none came to stand.
  bool is_private = false;
  /// How long a refusal, or (private) no coordinator, is borne at the start.
  std::chrono::milliseconds patience_at_start{30'000};
  StopPatience stop;  // of an attempt by order
  /// With the agent itself, which whoever started it waits for.
  StopPatience last_stop{std::chrono::milliseconds(1000),
                         std::chrono::milliseconds(1000)};
};

/// How the agent ended, and what to tell whoever started it.
struct AgentEnd {
  int exit_code = 0;
  std::string message;  // empty after an orderly end
};

class Agent {
 public:
  Agent(AgentOptions options, FindData find, Log& log);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  /// Runs until Stop, or until there is no more reason to. Its trainers have
  /// ended when it returns. Called once.
  AgentEnd Run();

  /// From any thread: ends trainers and agent.
  void Stop();

 private:
  struct StopWanted {};
  using Input = std::variant<SessionEvent, DataFound, StopWanted>;

  void Handle(SessionEvent event, SteadyTime now);
  void Handle(DataFound found, SteadyTime now);
  void Handle(StopWanted, SteadyTime) { leaving_ = true; }

  void OnOpened(int64_t stream, SteadyTime now);
  void OnClosed(const absl::Status& status, SteadyTime now);
  void OnMessage(v1::CoordinatorMessage message, SteadyTime now);
  void OnRegistered(const v1::Registered& registered, SteadyTime now);
  void OnStart(v1::StartAttempt order);
  void OnRenewal(const v1::Renewal& renewal, SteadyTime now);
  void OnReadLog(const v1::ReadLogOrder& order);

  void Tick(SteadyTime now);
  void Beat(SteadyTime now);
  bool SendRecords(HeldAttempt& attempt);
  void SendEnding(HeldAttempt& attempt);
  void Refuse(const v1::Attempt& attempt, const std::string& kind,
              const std::string& message);
  void TellStarted(const HeldAttempt& attempt);
  void Send(v1::AgentMessage message);
  v1::Register Introduction() const;
  std::string WhyNotStart(const v1::StartAttempt& order) const;
  HeldAttempt* Find(const v1::Attempt& attempt);
  SteadyTime NextWake(SteadyTime now) const;
  AgentEnd Leave();

  /// What waits for its data before it can start.
  struct Pending {
    v1::StartAttempt order;
    spec::TrainerConfig config;
  };

  struct Held {
    std::unique_ptr<HeldAttempt> attempt;
    std::optional<Pending> pending;
    std::string dataset_path;
    std::string trainer_device;
  };

  const AgentOptions options_;
  Log& log_;
  std::map<AttemptKey, Held> held_;
  int64_t stream_ = 0;       // 0: none stands
  bool registered_ = false;  // on the stream that stands
  bool was_registered_ = false;
  bool leaving_ = false;
  std::optional<AgentEnd> end_;
  SteadyTime started_at_{};
  SteadyTime heard_at_{};  // the coordinator said something
  SteadyTime next_beat_{};
  int64_t beats_ = 0;
  std::chrono::milliseconds heartbeat_{1000};

  Mailbox<Input> inputs_;
  std::unique_ptr<DataThread> data_;
  std::unique_ptr<Session> session_;
};

}  // namespace leadline::agent
