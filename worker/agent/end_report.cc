#include "worker/agent/end_report.h"

#include <csignal>

#include "common/experiment.h"

namespace leadline::agent {
namespace {

EndReport Failure(FailureKind kind, std::string message) {
  return {std::string(Name(kind)), std::move(message)};
}

std::string WithLastWords(std::string message, const std::string& words) {
  if (!words.empty()) message += ": " + words;
  return message;
}

/// How the process ended, where it left no `end` record.
EndReport FromStatus(const EndEvidence& evidence) {
  const ExitStatus& status = evidence.status;
  if (status.signal == SIGKILL && evidence.oom_killed) {
    return Failure(FailureKind::kOom,
                   "the machine ran out of memory and killed the trainer");
  }
  std::string message;
  if (status.signal != 0) {
    message =
        "the trainer was ended by signal " + std::to_string(status.signal);
  } else if (status.code == 0) {
    message = "the trainer exited without an end record";
  } else if (!status.IsKnown()) {
    message = "the trainer ended while its agent was away, exit status unknown";
  } else {
    message = "the trainer exited with code " + std::to_string(status.code);
  }
  if (evidence.unreadable > 0) {
    message += ", " + std::to_string(evidence.unreadable) +
               " lines of its event file were no events";
  }
  const FailureKind kind =
      status.code == 2 ? FailureKind::kConfig : FailureKind::kCrash;
  return Failure(kind, WithLastWords(std::move(message), evidence.last_words));
}

}  // namespace

EndReport ReportEnd(const EndEvidence& evidence) {
  if (evidence.end && evidence.end->outcome() == "succeeded") return {};
  if (evidence.lease_lost) {
    return Failure(FailureKind::kAgentLost,
                   "the lease of the attempt was not renewed");
  }
  if (!evidence.stop_reason.empty()) {
    return {"", "stopped: " + evidence.stop_reason};
  }
  if (!evidence.end && evidence.machine_restarted) {
    return Failure(FailureKind::kAgentLost,
                   "the machine went down while it ran");
  }
  if (!evidence.end) return FromStatus(evidence);
  const v1::EndRecord& end = *evidence.end;
  if (end.kind().empty()) {
    return Failure(FailureKind::kCrash,
                   "ended from outside, not by us: " + end.message());
  }
  if (ParseFailureKind(end.kind())) return {end.kind(), end.message()};
  return Failure(FailureKind::kCrash,
                 "the trainer named an unknown kind of failure: " +
                     LastWords(end.kind(), 60) + ": " + end.message());
}

std::string LastWords(std::string_view text, size_t most) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  if (text.size() > most) text.remove_prefix(text.size() - most);
  std::string words;
  for (const char c : text) {
    if (c == '\n') {
      words += " | ";
    } else {
      words += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return words;
}

}  // namespace leadline::agent
