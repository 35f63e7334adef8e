// How the server and the thread of control meet.

#pragma once

#include <functional>

#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/outcome.h"

namespace leadline::control {

/// Called once, on the thread of control, when the command's changes are on
/// disk. It must not block. Unavailable: the coordinator is ending. Internal:
/// nothing was changed, and the log says why.
using Answered = std::function<void(absl::StatusOr<Answer>)>;

/// A command, and whom to answer.
struct Envelope {
  Command command;
  Answered answered;
};

/// Takes commands in. Thread-safe, never blocks.
class CommandSink {
 public:
  virtual ~CommandSink() = default;

  virtual void Post(Command command, Answered answered) = 0;
};

/// Takes out what was decided and committed. Called on the thread of control
/// alone; must not block.
class EffectSink {
 public:
  virtual ~EffectSink() = default;

  /// An order for a session that is gone is dropped.
  virtual void Deliver(const AgentOrder& order) = 0;

  /// Ends the streams of all agents; they will register again.
  virtual void CloseAllSessions(const absl::Status& status) = 0;

  virtual bool IsWatched(SweepId sweep) = 0;
  virtual void Publish(const ProgressReport& report) = 0;
};

}  // namespace leadline::control
