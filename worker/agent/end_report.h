// Why an attempt ended, as far as its agent can tell.

#pragma once

#include <optional>
#include <string>

#include "leadline/v1/worker_service.pb.h"
#include "worker/agent/attempt_host.h"

namespace leadline::agent {

/// What is known when the process group is gone and its events are read.
struct EndEvidence {
  ExitStatus status = {};
  std::optional<v1::EndRecord> end =
      {};                          // the trainer's last word, if it had one
  int64_t unreadable = 0;          // lines that were no events
  std::string stop_reason = {};    // not empty: we ended it
  bool stopped_by_agent = false;   // the agent itself is ending
  bool lease_lost = false;         // it was not renewed in time
  bool machine_restarted = false;  // while it ran
  bool of_several = false;         // ranks: they stop together
  std::string hang = {};           // not empty: we ended it, since it hung
  EndTraces traces = {};
};

struct EndReport {
  std::string kind;  // a failure kind, or empty: no failure is known
  std::string message;
};

/// What was known longest wins: our own order, then the trainer's `end` record,
/// then what the kernel did, how the process ended, and what it said last.
EndReport ReportEnd(const EndEvidence& evidence);

/// Printable ASCII and line by line: at most the last `most` bytes of `text`.
std::string LastWords(std::string_view text, size_t most = 400);

}  // namespace leadline::agent
