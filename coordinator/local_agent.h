// The agent a private coordinator keeps on its own machine.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <sys/types.h>

#include "common/log.h"
#include "logging/open_log.h"

namespace leadline {

struct LocalAgentOptions {
  std::filesystem::path program;
  std::filesystem::path state;
  std::string coordinator;  // "unix:PATH"
  LogOptions log{};
};

/// Starts the agent when it is wanted, again when it died, and ends it when it
/// is wanted no more. Thread-safe.
class LocalAgent {
 public:
  LocalAgent(LocalAgentOptions options, Log& log);

  /// Ends the agent.
  ~LocalAgent();

  /// `slots` 0: one a core. Takes effect at the next start.
  void Want(bool wanted, int64_t slots);

  /// Ends the agent: SIGTERM, then SIGKILL for its process group. Blocks for
  /// some seconds at most. Called once, last.
  void Stop();

 private:
  void Run(const std::stop_token& stop);
  void KeepAlive(const std::stop_token& stop);
  std::optional<pid_t> Spawn(int64_t slots);
  std::optional<pid_t> SpawnWith(const std::vector<std::string>& flags);
  /// True if it ended within the time.
  bool WaitForEnd(pid_t pid, int milliseconds);
  void End(pid_t pid);
  /// Ends the trainers of an agent that died: they are in groups of their own.
  void EndLeftovers();

  const LocalAgentOptions options_;
  Log& log_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;
  int64_t slots_ ABSL_GUARDED_BY(mutex_) = 0;
  bool died_ = false;  // the last agent, and none came after; the thread's own
  std::jthread thread_;
};

}  // namespace leadline
