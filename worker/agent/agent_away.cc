// What the agent does and says while its coordinator is not to be had.

#include <utility>

#include "errors/error_code.h"
#include "worker/agent/agent_logic.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;

/// The coordinator is there, or the way to it is; what stands between does not
/// pass by waiting.
bool IsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return false;
  }
}

bool IsBarred(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
}

std::string WhatNext(bool is_refusal, std::optional<milliseconds> ends_in) {
  if (!ends_in) {
    return is_refusal ? "tries again until it is let in"
                      : "tries again until one answers";
  }
  if (*ends_in <= milliseconds(0)) return "ends";
  const auto seconds =
      std::chrono::ceil<std::chrono::seconds>(*ends_in).count();
  return "tries for " + std::to_string(seconds) + " s more, then ends";
}

}  // namespace

void AgentLogic::OnClosed(absl::Status status, SteadyTime now) {
  // So it says what it cannot store.
  if (registered_ && absl::IsInternal(status)) NoteRefusal(status);
  const bool was_heard = std::exchange(stream_, 0) != 0;
  registered_ = false;
  ++tries_;
  if (broken_off_) status = *std::exchange(broken_off_, std::nullopt);
  if (status.ok()) status = absl::UnavailableError("it ended the session");
  if (end_) return;
  if (policy_.is_private && was_registered_) {
    TellAway(status, milliseconds(0), now);
    end_ = absl::OkStatus();
    return;
  }
  if (was_registered_ || !(IsRefusal(status) || policy_.is_private)) {
    return TellAway(status, std::nullopt, now);
  }
  // A token that is none becomes none by waiting; a clock that is set late does
  // make a certificate valid.
  const bool is_final = was_heard && IsBarred(status);
  const auto left = std::chrono::duration_cast<milliseconds>(
      policy_.patience_at_start - (now - started_at_));
  if (!is_final && left > milliseconds(0)) return TellAway(status, left, now);
  end_ = std::move(status);
}

void AgentLogic::TellAway(const absl::Status& status,
                          std::optional<milliseconds> ends_in, SteadyTime now) {
  const bool is_refusal = IsRefusal(status);
  const std::string code(Name(ErrorOf(status)));
  const std::string message(status.message());
  if (!news_.IsDue(code + message, now)) return;
  log_.Write(is_refusal && !ends_in ? LogLevel::kError : LogLevel::kWarning,
             is_refusal ? "coordinator_refuses" : "coordinator_gone",
             {{"code", code},
              {"message", message},
              {"tries", std::to_string(tries_)},
              {"next", WhatNext(is_refusal, ends_in)}});
}

void AgentLogic::BreakOff(absl::Status why) {
  broken_off_ = std::move(why);
  link_.Break(stream_);
}

void AgentLogic::NoteRefusal(const absl::Status& status) {
  std::vector<CarefulSending::Outstanding> outstanding;
  for (const auto& [key, held] : held_) {
    const RecordWindow& window = held.attempt->window;
    if (window.sent() > window.acknowledged()) {
      outstanding.push_back({key, window.acknowledged() + 1, window.sent()});
    }
  }
  const auto cause = careful_.OnRefused(outstanding);
  if (!cause) return;
  held_.at(cause->attempt).attempt->LeaveOut(cause->first);
  log_.Write(LogLevel::kError, "record_left_out",
             {{"attempt", ToText(cause->attempt)},
              {"sequence", std::to_string(cause->first)},
              {"code", std::string(Name(ErrorOf(status)))},
              {"message", std::string(status.message())}});
}

}  // namespace leadline::agent
