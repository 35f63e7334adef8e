#include "worker/agent/end_report.h"

#include <csignal>

#include "common/experiment.h"
#include "worker/agent/failure_text.h"

namespace leadline::agent {
namespace {

constexpr int64_t kTooLittleBytes = 1 << 20;

EndReport Failure(FailureKind kind, std::string message) {
  return {std::string(Name(kind)), std::move(message)};
}

std::string WithLastWords(std::string message, const std::string& words) {
  if (!words.empty()) message += ": " + words;
  return message;
}

std::string HowEnded(const EndEvidence& evidence) {
  const ExitStatus& status = evidence.status;
  std::string message;
  if (status.signal != 0) {
    message =
        "the trainer was ended by signal " + std::to_string(status.signal);
  } else if (!status.IsKnown()) {
    message = "the trainer ended while its agent was away, exit status unknown";
  } else if (status.code == 0) {
    message = "the trainer exited without an end record";
  } else {
    message = "the trainer exited with code " + std::to_string(status.code);
  }
  if (evidence.unreadable > 0) {
    message += ", " + std::to_string(evidence.unreadable) +
               " lines of its event file were no events";
  }
  return message;
}

/// Null unless the kernel killed it for memory, as far as that can be seen.
std::optional<EndReport> FromKernel(const EndEvidence& evidence) {
  const ExitStatus& status = evidence.status;
  if (status.IsKnown() && status.signal != SIGKILL) return std::nullopt;
  switch (evidence.traces.oom) {
    case OomEvidence::kNone:
      return std::nullopt;
    case OomEvidence::kCounted:
      return Failure(FailureKind::kOom,
                     "the machine ran out of memory and killed the trainer");
    case OomEvidence::kNamed:
      break;
  }
  return Failure(FailureKind::kOom,
                 "the machine ran out of memory and killed the trainer, as the "
                 "kernel's log says");
}

/// A trainer whose disk is full can say so nowhere: neither in its events nor
/// in its log.
bool CouldNotWrite(const EndEvidence& evidence) {
  const EndTraces& traces = evidence.traces;
  return (evidence.status.code == 1 || traces.is_torn) && traces.free_bytes &&
         *traces.free_bytes < kTooLittleBytes;
}

/// How the process ended, where it left no `end` record.
EndReport FromStatus(const EndEvidence& evidence) {
  if (auto report = FromKernel(evidence)) return *std::move(report);
  const EndTraces& traces = evidence.traces;
  FailureKind kind = FailureKind::kCrash;
  std::string message = HowEnded(evidence);
  if (evidence.status.code == 2) {
    kind = FailureKind::kConfig;
  } else if (const auto said = KindFromText(traces.last_words)) {
    kind = *said;
  } else if (CouldNotWrite(evidence)) {
    kind = FailureKind::kDisk;
    message += ", and its disk has " + std::to_string(*traces.free_bytes) +
               " bytes free";
  }
  return Failure(kind, WithLastWords(std::move(message), traces.last_words));
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
  if (!evidence.hang.empty()) {
    return Failure(FailureKind::kHang, evidence.hang);
  }
  if (!evidence.end && evidence.machine_restarted) {
    return Failure(FailureKind::kAgentLost,
                   "the machine went down while it ran");
  }
  if (!evidence.end) return FromStatus(evidence);
  const v1::EndRecord& end = *evidence.end;
  if (end.kind().empty() && evidence.of_several) {
    return Failure(FailureKind::kNccl,
                   "another rank was told to stop: " + end.message());
  }
  if (end.kind().empty()) {
    return Failure(FailureKind::kCrash,
                   "ended from outside, not by us: " + end.message());
  }
  const auto kind = ParseFailureKind(end.kind());
  if (kind == FailureKind::kCrash) {
    return Failure(KindFromText(end.message()).value_or(*kind), end.message());
  }
  if (kind) return {end.kind(), end.message()};
  return Failure(FailureKind::kCrash,
                 "the trainer named an unknown kind of failure: " +
                     LastWords(end.kind(), 60) + ": " + end.message());
}

std::string LastWords(std::string_view text, size_t most) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  if (text.size() > most) {
    const bool begins_a_line = text[text.size() - most - 1] == '\n';
    text.remove_prefix(text.size() - most);
    // Half a line misleads, where it is not most of what there is.
    const size_t line = text.find('\n');
    if (!begins_a_line && line < most / 2) text.remove_prefix(line + 1);
  }
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
