#include "worker/agent/held_attempt.h"

#include <utility>

#include <signal.h>

#include "common/trainer_silence.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/attempt_message.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;

// One that has not ended itself by then hangs.
constexpr std::chrono::seconds kLongestWithoutRenewal =
    kTrainerSilence + std::chrono::seconds(5);
constexpr size_t kLastWordBytes = 2048;

}  // namespace

HeldAttempt::HeldAttempt(AttemptKey key, std::vector<std::string> devices,
                         std::filesystem::path folder)
    : key_(key),
      devices_(std::move(devices)),
      folder_(std::move(folder)),
      orders_(folder_),
      reader_(folder_ / "events.jsonl") {}

absl::Status HeldAttempt::Start(const std::filesystem::path& program,
                                const std::string& config, int64_t threads,
                                const std::string& boot_id, SteadyTime now) {
  if (absl::Status made = MakeAttemptFolder(folder_); !made.ok()) return made;
  absl::Status written = WriteFile(folder_ / "config.json", config + "\n");
  if (!written.ok()) return written;
  oom_kills_before_ = CountOomKills();
  absl::StatusOr<pid_t> pid = LaunchTrainer({program, folder_, threads});
  if (!pid.ok()) return pid.status();
  group_.emplace(*pid);
  renewed_at_ = now;
  const auto stat = ReadProcStat(*pid);
  written = WriteProcessRecord(
      folder_,
      {boot_id, *pid, stat ? stat->start_time : 0, *pid, ToText(key_)});
  // Without it a later agent still knows the trainer by its environment, and a
  // full disk is the trainer's own failure to report.
  return absl::OkStatus();
}

void HeldAttempt::Renew(SteadyTime now) {
  if (gone_ || !group_ || IsStopping()) return;
  renewed_at_ = now;
  orders_.Send("renew");
}

void HeldAttempt::Stop(std::string reason, StopPatience patience,
                       SteadyTime now) {
  if (gone_ || IsStopping()) return;
  evidence_.stop_reason = reason.empty() ? "by order" : std::move(reason);
  stopping_since_ = now;
  patience_ = patience;
  Tick(now);
}

void HeldAttempt::StopBecauseAgentEnds(StopPatience patience, SteadyTime now) {
  if (gone_) return;
  if (!IsStopping()) evidence_.stopped_by_agent = true;
  if (!IsStopping() || step_ == StopStep::kOrder) stopping_since_ = now;
  patience_ = patience;
  Tick(now);
}

void HeldAttempt::Tick(SteadyTime now) {
  if (gone_) return;
  if (!group_) {
    // Stopped before it began: there is nothing to end.
    gone_ = IsStopping();
    return;
  }
  if (group_->IsGone()) {
    gone_ = true;
    evidence_.status = *group_->status();
    evidence_.oom_killed =
        step_ != StopStep::kKill && CountOomKills() > oom_kills_before_;
    evidence_.last_words =
        LastWords(ReadEnd(folder_ / "stderr.log", kLastWordBytes));
    return;
  }
  if (!IsStopping() && group_->status()) {
    // The trainer has ended and left children behind: they get no order.
    stopping_since_ = now;
    patience_ = {milliseconds(0), milliseconds(2000)};
  } else if (!IsStopping() && now - renewed_at_ > kLongestWithoutRenewal) {
    evidence_.lease_lost = true;
    stopping_since_ = now;
    patience_ = {milliseconds(0), milliseconds(2000)};
  }
  if (!IsStopping()) return;
  const auto elapsed =
      std::chrono::duration_cast<milliseconds>(now - *stopping_since_);
  TakeStep(StepDue(elapsed, patience_));
}

void HeldAttempt::TakeStep(StopStep step) {
  switch (step) {
    case StopStep::kNone:
      break;
    case StopStep::kOrder:
      // Asked again until it listens: it may not have come so far.
      if (step_ < StopStep::kOrder && orders_.Send("stop")) step_ = step;
      break;
    case StopStep::kTerminate:
      if (step_ < StopStep::kTerminate) group_->Signal(SIGTERM);
      step_ = step;
      break;
    case StopStep::kKill:
      // Again and again: the group may have forked meanwhile.
      group_->Signal(SIGKILL);
      step_ = step;
      break;
  }
}

absl::StatusOr<v1::RecordBatch> HeldAttempt::NextBatch() {
  if (!events_lost_.empty()) return v1::RecordBatch();
  absl::StatusOr<v1::RecordBatch> batch = reader_.NextBatch();
  if (!batch.ok()) return batch;
  *batch->mutable_attempt() = ToMessage(key_);
  Examine(*batch);
  return batch;
}

void HeldAttempt::Examine(const v1::RecordBatch& batch) {
  for (const v1::TrainerRecord& record : batch.records()) {
    // What is sent again was examined before.
    if (record.sequence() <= examined_) continue;
    examined_ = record.sequence();
    if (record.has_unreadable()) ++evidence_.unreadable;
    if (record.has_end()) evidence_.end = record.end();
  }
}

absl::Status HeldAttempt::SendAgainAfter(int64_t acknowledged) {
  const int64_t from =
      std::min(std::max<int64_t>(acknowledged, 0), reader_.sequence());
  ending_sent = false;
  if (absl::Status sought = reader_.SeekAfter(from); !sought.ok()) {
    return sought;
  }
  window.Restart(from);
  return absl::OkStatus();
}

void HeldAttempt::GiveUpEvents(std::string reason) {
  events_lost_ = std::move(reason);
}

bool HeldAttempt::WasInterrupted() const {
  return evidence_.stopped_by_agent &&
         !(evidence_.end && evidence_.end->outcome() == "succeeded");
}

v1::AttemptEnded HeldAttempt::Ending() const {
  v1::AttemptEnded ended;
  *ended.mutable_attempt() = ToMessage(key_);
  ended.set_last_sequence(window.sent());
  ended.set_exit_code(evidence_.status.code);
  ended.set_signal(evidence_.status.signal);
  const EndReport report = events_lost_.empty()
                               ? ReportEnd(evidence_)
                               : EndReport{"disk", events_lost_};
  ended.set_kind(report.kind);
  ended.set_message(report.message);
  return ended;
}

}  // namespace leadline::agent
