#include "worker/agent/held_attempt.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <signal.h>

#include "common/trainer_silence.h"
#include "worker/agent/attempt_message.h"
#include "worker/agent/record_words.h"

namespace leadline::agent {
namespace {

using std::chrono::milliseconds;

// One that has not ended itself by then hangs.
constexpr std::chrono::seconds kLongestWithoutRenewal =
    kTrainerSilence + std::chrono::seconds(5);
constexpr StopPatience kPatienceWithRest{milliseconds(0), milliseconds(2000)};
constexpr StopPatience kPatienceWithHung{milliseconds(0), milliseconds(5000)};

}  // namespace

HeldAttempt::HeldAttempt(AttemptKey key, HoldRecord hold, AttemptHost& host,
                         HangPolicy hang)
    : key_(key), hold_(std::move(hold)), host_(host), hang_(hang) {}

HeldAttempt::HeldAttempt(FoundAttempt found, AttemptHost& host, HangPolicy hang,
                         SteadyTime now)
    : key_(found.key),
      hold_(std::move(found.hold)),
      host_(host),
      hang_(hang),
      renewed_at_(now) {
  OpenRecords();
  ranks_.emplace(key_, hold_, host_, hang_, std::move(found.trainers), now);
  window.Restart(0);
  evidence_.machine_restarted = found.machine_restarted;
  if (!ranks_->IsGone(now)) return;
  NoteGone();
  ExamineLast();
  // One that was told to end names no kind: with its agent gone too, somebody
  // ended them both.
  const bool was_told = evidence_.end && evidence_.end->kind().empty();
  evidence_.stopped_by_agent = found.interrupted || was_told;
}

absl::Status HeldAttempt::Start(const TrainerOrder& order,
                                SteadyTime renewed_at, SteadyTime now) {
  auto trainers = host_.Start(key_, order);
  if (!trainers.ok()) return trainers.status();
  hold_ = order.hold;
  ranks_.emplace(key_, hold_, host_, hang_, *std::move(trainers), now);
  // Not before: what lay in its folder was of another database.
  OpenRecords();
  renewed_at_ = renewed_at;
  return absl::OkStatus();
}

void HeldAttempt::OpenRecords() {
  if (hold_.first_rank == 0) reader_.emplace(host_.Events(key_, 0));
}

std::vector<v1::StartedRank> HeldAttempt::Ranks() const {
  return ranks_ ? ranks_->Describe() : std::vector<v1::StartedRank>{};
}

void HeldAttempt::Renew(SteadyTime as_of) {
  if (gone_ || !ranks_ || IsStopping()) return;
  renewed_at_ = std::max(renewed_at_, as_of);
  ranks_->Renew(as_of);
}

void HeldAttempt::Stop(std::string reason, StopPatience patience,
                       SteadyTime now) {
  if (gone_ || IsStopping()) return;
  evidence_.stop_reason = reason.empty() ? "by order" : std::move(reason);
  stopping_since_ = now;
  // Ranks of which one stands still hear no order and write no checkpoint.
  patience_ =
      hold_.world_size > 1 && IsSuspended() ? kPatienceWithRest : patience;
  Tick(now);
}

void HeldAttempt::StopBecauseAgentEnds(StopPatience patience, SteadyTime now) {
  if (gone_) return;
  if (!IsStopping()) {
    evidence_.stopped_by_agent = true;
    if (ranks_) host_.MarkInterrupted(key_);
  }
  if (!IsStopping() || step_ == StopStep::kOrder) stopping_since_ = now;
  patience_ = patience;
  Tick(now);
}

void HeldAttempt::Tick(SteadyTime now) {
  if (gone_) return;
  if (!ranks_) {
    // Stopped before it began: there is nothing to end.
    gone_ = IsStopping();
    return;
  }
  if (ranks_->IsGone(now)) {
    NoteGone();
    // It may have finished all the same, and nobody reads the rest any more.
    if (evidence_.stopped_by_agent) ExamineLast();
    return;
  }
  LookForProgress(now);
  if (!IsStopping() && ranks_->MustEnd(now)) {
    // What it left behind, children or other ranks, gets no order.
    stopping_since_ = now;
    patience_ = kPatienceWithRest;
  } else if (!IsStopping() && now - renewed_at_ > kLongestWithoutRenewal) {
    evidence_.lease_lost = true;
    stopping_since_ = now;
    patience_ = kPatienceWithRest;
  }
  if (!IsStopping()) return;
  const auto elapsed =
      std::chrono::duration_cast<milliseconds>(now - *stopping_since_);
  TakeStep(StepDue(elapsed, patience_), now);
}

void HeldAttempt::NoteGone() {
  gone_ = true;
  const LocalRanks::End end = ranks_->HowEnded();
  ended_rank_ = end.rank;
  also_ = end.also;
  evidence_.status = end.status;
  evidence_.traces = end.traces;
  // Of one rank alone what was sent tells it, and what is torn is not sent.
  if (hold_.world_size > 1) evidence_.end = end.record;
  evidence_.of_several = hold_.world_size > 1;
  // That kill was our own.
  if (step_ == StopStep::kKill) evidence_.traces.oom = OomEvidence::kNone;
}

void HeldAttempt::LookForProgress(SteadyTime now) {
  if (IsStopping() || ranks_->MustEnd(now)) return;
  const auto why = ranks_->WhyHung(now);
  if (!why) return;
  // Read for this alone: the coordinator may be away, and much unsent.
  RecordReader reader(host_.Events(key_, 0));
  const absl::Status read =
      reader.SeekAfter(std::numeric_limits<int64_t>::max());
  const auto& last = reader.passed_over();
  evidence_.hang = *why + "; " +
                   (read.ok() && last ? "its last record was " + InWords(*last)
                                      : "it never wrote one");
  stopping_since_ = now;
  patience_ = kPatienceWithHung;
}

void HeldAttempt::TakeStep(StopStep step, SteadyTime now) {
  switch (step) {
    case StopStep::kNone:
      break;
    case StopStep::kOrder:
      // Asked again until it listens: it may not have come so far.
      if (step_ < StopStep::kOrder && ranks_->AskToStop(now)) step_ = step;
      break;
    case StopStep::kTerminate:
      if (step_ < StopStep::kTerminate) ranks_->Signal(SIGTERM);
      step_ = step;
      break;
    case StopStep::kKill:
      // Again and again: the group may have forked meanwhile.
      ranks_->Signal(SIGKILL);
      step_ = step;
      break;
  }
}

absl::StatusOr<v1::RecordBatch> HeldAttempt::NextBatch(int most) {
  if (!events_lost_.empty() || !reader_) return v1::RecordBatch();
  absl::StatusOr<v1::RecordBatch> batch = reader_->NextBatch(most);
  if (!batch.ok()) return batch;
  *batch->mutable_attempt() = ToMessage(key_);
  for (v1::TrainerRecord& record : *batch->mutable_records()) {
    Examine(record);
    if (left_out_.contains(record.sequence())) {
      record.mutable_unreadable()->set_message(
          "left out, since the coordinator cannot store it");
    }
  }
  return batch;
}

void HeldAttempt::Examine(const v1::TrainerRecord& record) {
  // What is sent again was examined before.
  if (record.sequence() <= examined_) return;
  examined_ = record.sequence();
  if (record.has_unreadable()) ++evidence_.unreadable;
  if (record.has_end() && hold_.world_size == 1) evidence_.end = record.end();
}

/// An `end` record is the last of its file.
void HeldAttempt::ExamineLast() {
  if (auto end = ReadEndRecord(host_, key_, ended_rank_)) {
    evidence_.end = *std::move(end);
  }
}

absl::Status HeldAttempt::SendAgainAfter(std::optional<int64_t> acknowledged) {
  ending_sent = false;
  if (!reader_) return absl::OkStatus();
  const int64_t from =
      std::max<int64_t>(acknowledged.value_or(window.acknowledged()), 0);
  if (absl::Status sought = reader_->SeekAfter(from); !sought.ok()) {
    return sought;
  }
  if (reader_->passed_over()) Examine(*reader_->passed_over());
  if (ranks_) ranks_->NoteWait(reader_->longest_wait());
  // There may be fewer than the coordinator has: the machine went down before
  // they were on disk.
  window.Restart(reader_->sequence());
  return absl::OkStatus();
}

void HeldAttempt::GiveUpEvents(std::string reason) {
  events_lost_ = std::move(reason);
}

bool HeldAttempt::WasInterrupted() const {
  return evidence_.stopped_by_agent &&
         !(evidence_.end && evidence_.end->outcome() == "succeeded");
}

int64_t HeldAttempt::CountRecords() const {
  if (!reader_) return 0;
  RecordReader reader(host_.Events(key_, 0));
  const absl::Status read =
      reader.SeekAfter(std::numeric_limits<int64_t>::max());
  return read.ok() ? reader.sequence() : 0;
}

v1::AttemptEnded HeldAttempt::Ending() const {
  v1::AttemptEnded ended;
  *ended.mutable_attempt() = ToMessage(key_);
  ended.set_last_sequence(events_lost_.empty() ? window.sent()
                                               : window.acknowledged());
  ended.set_exit_code(evidence_.status.code);
  ended.set_signal(evidence_.status.signal);
  const EndReport report = events_lost_.empty()
                               ? ReportEnd(evidence_)
                               : EndReport{"disk", events_lost_};
  ended.set_kind(report.kind);
  const bool names_rank = hold_.world_size > 1 && !report.kind.empty();
  ended.set_message(
      (names_rank ? "rank " + std::to_string(ended_rank_) + ": " : "") +
      report.message + also_);
  if (!left_out_.empty()) {
    ended.mutable_message()->append(
        (report.message.empty() ? "" : "; ") +
        std::to_string(left_out_.size()) +
        " of its records cannot be stored and were left out");
  }
  return ended;
}

}  // namespace leadline::agent
