#include "coordinator/control/commit_cycle.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "coordinator/control/look_up.h"
#include "errors/error_code.h"

namespace leadline::control {
namespace {

/// One transaction holds at most about this many changes: a commit in progress
/// is a wait for all that came after.
constexpr size_t kMostChanges = 2000;
/// Who asks again with a request's id does so within hours.
constexpr std::chrono::hours kAnswersKept{30 * 24};
constexpr std::chrono::minutes kBetweenPurges{1};
constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::milliseconds kLongestRetry{5000};

void Ignore(const absl::StatusOr<Answer>&) {}

/// It comes from an agent's stream, which does not outlast control.
bool IsOfSession(const Command& command) {
  return std::visit(
      []<typename Kind>(const Kind&) {
        return requires(Kind one) { one.session; };
      },
      command);
}

}  // namespace

CommitCycle::CommitCycle(CommitCycleOptions options, storage::Store& store,
                         EffectSink& sink, Log& log)
    : options_(std::move(options)),
      store_(store),
      sink_(sink),
      log_(log),
      admissions_(options_.most_trials),
      recalls_(options_.most_trials),
      publisher_(sink, options_.publish_every) {}

absl::StatusOr<std::unique_ptr<CommitCycle>> CommitCycle::Start(
    CommitCycleOptions options, storage::Store& store, EffectSink& sink,
    Log& log) {
  std::unique_ptr<CommitCycle> cycle(
      new CommitCycle(std::move(options), store, sink, log));
  auto loaded = cycle->Load();
  if (!loaded.ok()) return loaded.status();
  cycle->control_ = std::make_unique<Control>(*std::move(loaded));
  const Moment now = cycle->options_.now();
  cycle->ticked_ = now.steady;
  const absl::Status begun = store.Commit(cycle->control_->Begin(now).changes);
  if (!begun.ok()) return begun;
  cycle->TellOverview(now.steady);
  return cycle;
}

absl::StatusOr<Control> CommitCycle::Load() const {
  auto unfinished = store_.LoadUnfinished();
  if (!unfinished.ok()) return unfinished.status();
  const auto next = store_.NextSweepId();
  if (!next.ok()) return next.status();
  const auto nodes = store_.LoadNodes();
  if (!nodes.ok()) return nodes.status();
  return Control::Make(options_.policy, options_.work_wanted, *next,
                       *unfinished, options_.now(), *nodes);
}

void CommitCycle::Turn(std::deque<Envelope> arrived) {
  std::move(arrived.begin(), arrived.end(), std::back_inserter(queue_));
  const Moment begin = options_.now();
  TakeTurn(begin.steady);
  if (!options_.observer) return;
  const Moment end = options_.now();
  options_.observer->OnTurn(end, end.steady - begin.steady, refusal_);
}

void CommitCycle::TakeTurn(SteadyTime now) {
  if (retry_at_ && now < *retry_at_) return RefuseRequests();
  retry_at_.reset();
  standstill_ = absl::OkStatus();
  if (load_with_work_wanted_ && !LoadAgain()) return;
  if (!Flush()) return;
  has_recalled_ = false;
  std::deque<Envelope> held = held_.Take();
  queue_.insert(queue_.begin(), std::make_move_iterator(held.begin()),
                std::make_move_iterator(held.end()));
  if (now - ticked_ >= options_.tick) {
    queue_.push_back({Tick{}, &Ignore});
    ticked_ = now;
  }
  ApplyQueue();
  if (!retry_at_ && !load_with_work_wanted_) Admit();
  if (!retry_at_ && !load_with_work_wanted_) GoOn();
  if (!retry_at_) publisher_.Publish(*control_, options_.now().steady);
  // What waits to be committed is not so yet.
  if (batch_.IsEmpty() && apart_.empty()) TellOverview(now);
  // Purging takes what is staged, too.
  if (queue_.empty() && !HasMoreToDo() && !retry_at_) Purge();
}

void CommitCycle::TellOverview(SteadyTime now) {
  if (!options_.observer) return;
  if (overview_at_ && now - *overview_at_ < options_.overview_every) return;
  overview_at_ = now;
  options_.observer->OnOverview(Count(control_->state(), now));
}

void CommitCycle::RefuseRequests() {
  if (standstill_.ok()) return;
  std::deque<Envelope> left;
  for (Envelope& envelope : std::exchange(queue_, {})) {
    if (AsksTheStore(envelope.command)) {
      envelope.answered(standstill_);
    } else {
      left.push_back(std::move(envelope));
    }
  }
  queue_ = std::move(left);
  admissions_.Refuse(standstill_);
  recalls_.Refuse(standstill_);
  held_.Refuse(standstill_);
}

SteadyTime CommitCycle::NextTurn() const {
  // Whatever else is due waits for that.
  if (retry_at_) return *retry_at_;
  if (HasMoreToDo()) return options_.now().steady;
  const SteadyTime next = ticked_ + options_.tick;
  return purges_ ? std::min(next, purge_at_) : next;
}

/// A part at a time, so that what arrives waits for one part at most, and with
/// as long a pause in between.
void CommitCycle::Purge() {
  const Moment now = options_.now();
  if (now.steady < purge_at_) return;
  storage::PurgeLimits limits;
  limits.answers_before = now.wall - kAnswersKept;
  if (options_.keep_archived) {
    limits.archived_before = now.wall - *options_.keep_archived;
  }
  const auto more = store_.Purge(limits);
  if (!more.ok()) {
    log_.Write(LogLevel::kError, "removal_failed",
               {{"message", std::string(more.status().message())}});
  }
  purges_ = more.ok() && *more;
  const SteadyTime done = options_.now().steady;
  purge_at_ = purges_ ? done + (done - now.steady) : done + kBetweenPurges;
}

void CommitCycle::Abandon(const absl::Status& status) {
  apart_.push_front(std::exchange(batch_, {}));
  for (CommitBatch& batch : std::exchange(apart_, {})) {
    for (Applied& applied : batch.applied) applied.answered(status);
  }
  for (Envelope& envelope : std::exchange(queue_, {})) {
    envelope.answered(status);
  }
  admissions_.Refuse(status);
  recalls_.Refuse(status);
  held_.Refuse(status);
}

/// Stops where a commit is refused: the rest waits in the queue.
void CommitCycle::ApplyQueue() {
  while (!queue_.empty()) {
    const bool must_flush = AsksTheStore(queue_.front().command) ||
                            batch_.changes.size() >= kMostChanges;
    if (must_flush && !Flush()) return;
    Envelope envelope = std::move(queue_.front());
    queue_.pop_front();
    Add(std::move(envelope));
  }
  Flush();
}

void CommitCycle::Add(Envelope envelope) {
  const auto is_busy = [this](SweepId sweep) { return IsBusy(sweep); };
  if (HeldRequests::MustWait(envelope.command, is_busy)) {
    return held_.Hold(std::move(envelope));
  }
  if (admissions_.MustWait(envelope.command)) {
    return admissions_.Add(std::move(envelope));
  }
  if (AsksTheStore(envelope.command)) {
    const absl::Status found =
        LookUp(store_, control_->state(), envelope.command);
    if (!found.ok()) return envelope.answered(found);
  }
  auto ended = ToRecall(control_->state(), envelope.command);
  if (!ended.ok()) return envelope.answered(ended.status());
  if (ended->empty()) return Apply(std::move(envelope));
  std::get<RetryTargets>(envelope.command).ended.clear();
  recalls_.Add(std::move(envelope), *std::move(ended));
  if (!has_recalled_) Recall();
}

void CommitCycle::Apply(Envelope envelope) {
  Outcome outcome = control_->Apply(envelope.command, options_.now());
  if (std::holds_alternative<RemoveTargets>(envelope.command)) {
    purge_at_ = options_.now().steady;
    purges_ = true;
  }
  batch_.Add(std::move(envelope.command), std::move(outcome),
             std::move(envelope.answered));
}

bool CommitCycle::Flush() {
  while (!batch_.IsEmpty() || !apart_.empty()) {
    if (batch_.IsEmpty()) {
      batch_ = std::move(apart_.front());
      apart_.pop_front();
    }
    if (!batch_.committed && !CommitChanges()) {
      if (apart_.empty() || retry_at_) return false;
      continue;
    }
    if (!KeepOrphans()) return false;
    Act();
  }
  held_.AnswerDone([this](SweepId sweep) { return IsBusy(sweep); });
  return true;
}

bool CommitCycle::CommitChanges() {
  if (!batch_.changes.empty()) {
    const absl::Status committed = store_.Commit(batch_.changes);
    if (absl::IsUnavailable(committed)) {
      WaitAndRetry(committed);
      return false;
    }
    if (!committed.ok()) {
      CommitOneByOne(committed);
      return false;
    }
    retry_wait_ = {};
  }
  batch_.committed = true;
  return true;
}

void CommitCycle::CommitOneByOne(const absl::Status& why) {
  // A damaged store is no fault of any command.
  if (batch_.applied.size() == 1 || absl::IsDataLoss(why)) {
    return StartAnew(why);
  }
  apart_ = std::exchange(batch_, {}).Apart();
}

/// Whether such attempts ever were is not known, so none of them may undo a
/// change or another orphan.
bool CommitCycle::KeepOrphans() {
  if (batch_.orphans.empty()) return true;
  std::vector<storage::Change> changes;
  for (const storage::OrphanRecord& orphan : batch_.orphans) {
    changes.emplace_back(storage::KeepOrphan{orphan});
  }
  const absl::Status kept = store_.Commit(changes);
  if (absl::IsUnavailable(kept)) {
    WaitAndRetry(kept);
    return false;
  }
  if (kept.ok()) {
    retry_wait_ = {};
  } else {
    KeepEach(changes);
  }
  log_.Write(LogLevel::kInfo, "orphan_records",
             {{"first_attempt", ToText(batch_.orphans.front().attempt)},
              {"records", std::to_string(batch_.orphans.size())}});
  batch_.orphans.clear();
  return true;
}

void CommitCycle::KeepEach(const std::vector<storage::Change>& orphans) {
  for (const storage::Change& orphan : orphans) {
    const absl::Status kept = store_.Commit({&orphan, 1});
    if (kept.ok()) continue;
    const auto& record = std::get<storage::KeepOrphan>(orphan).record;
    log_.Write(LogLevel::kWarning, "orphan_record_not_kept",
               {{"attempt", ToText(record.attempt)},
                {"sequence", std::to_string(record.sequence)},
                {"message", std::string(kept.message())}});
  }
}

void CommitCycle::Act() {
  CommitBatch batch = std::exchange(batch_, {});
  refusal_.clear();
  TellTally(batch);
  for (Applied& applied : batch.applied) {
    Outcome& outcome = applied.outcome;
    for (const AgentOrder& order : outcome.orders) sink_.Deliver(order);
    publisher_.Note(std::move(outcome.touched));
    AnswerWhenDone(std::move(applied));
  }
}

void CommitCycle::AnswerWhenDone(Applied applied) {
  absl::StatusOr<Answer> answer = std::move(applied.outcome.answer);
  Envelope envelope{std::move(applied.command), std::move(applied.answered)};
  const auto is_busy = [this](SweepId sweep) { return IsBusy(sweep); };
  if (answer.ok() && HeldRequests::MustWait(envelope.command, is_busy)) {
    return held_.HoldAnswer(std::move(envelope), std::move(answer));
  }
  envelope.answered(std::move(answer));
}

void CommitCycle::TellTally(const CommitBatch& batch) const {
  if (!options_.observer) return;
  Tally tally;
  for (const Applied& applied : batch.applied) tally.Add(applied.outcome.tally);
  if (!tally.IsEmpty()) options_.observer->OnTally(tally);
}

void CommitCycle::StartAnew(const absl::Status& why) {
  log_.Write(LogLevel::kError, "commit_failed",
             {{"code", absl::StatusCodeToString(why.code())},
              {"message", std::string(why.message())}});
  load_with_work_wanted_ = control_->state().work_wanted;
  // First, so that an agent hears that it may be what it sent; a damaged store
  // is no fault of any record.
  const absl::Status answer(
      absl::IsDataLoss(why) ? why.code() : absl::StatusCode::kInternal,
      "the change could not be stored: " + std::string(why.message()));
  for (Applied& applied : std::exchange(batch_, {}).applied) {
    applied.answered(answer);
  }
  const absl::Status anew =
      absl::UnavailableError("the coordinator reads its store anew");
  // What was decided on top of it never was.
  std::deque<CommitBatch> dropped = std::exchange(apart_, {});
  for (auto batch = dropped.rbegin(); batch != dropped.rend(); ++batch) {
    for (Applied& applied : batch->applied) GiveBack(std::move(applied), anew);
  }
  sink_.CloseAllSessions(anew);
  // At once, but not again and again: only what is committed resets the wait.
  retry_at_ = options_.now().steady + retry_wait_;
  retry_wait_ = std::clamp(retry_wait_ * 2, kFirstRetry, kLongestRetry);
}

/// An agent says it again on its next stream; all else is applied again.
void CommitCycle::GiveBack(Applied applied, const absl::Status& status) {
  if (IsOfSession(applied.command)) return applied.answered(status);
  if (std::holds_alternative<Tick>(applied.command)) return;
  if (std::holds_alternative<CarryOn>(applied.command)) return;
  queue_.push_front({std::move(applied.command), std::move(applied.answered)});
}

bool CommitCycle::LoadAgain() {
  auto loaded = Load();
  if (!loaded.ok()) {
    WaitAndRetry(loaded.status());
    return false;
  }
  control_ = std::make_unique<Control>(*std::move(loaded));
  if (const auto taken = admissions_.Number()) control_->KeepNumber(*taken);
  const bool work_wanted = *std::exchange(load_with_work_wanted_, {});
  const Moment now = options_.now();
  for (Outcome outcome : {control_->Begin(now),
                          control_->Apply(ClientsWantWork{work_wanted}, now)}) {
    batch_.Add(Tick{}, std::move(outcome), &Ignore);
  }
  return true;
}

void CommitCycle::WaitAndRetry(const absl::Status& why) {
  refusal_ = std::string(why.message());
  log_.Write(LogLevel::kError, "store_refused",
             {{"message", std::string(why.message())}});
  retry_wait_ = std::clamp(retry_wait_ * 2, kFirstRetry, kLongestRetry);
  retry_at_ = options_.now().steady + retry_wait_;
  standstill_ = WithError(
      absl::UnavailableError(
          "nothing can be stored at present: " + std::string(why.message()) +
          "; ask again once that has gone, what was asked "
          "for is done once"),
      NotedError(why).value_or(ErrorCode::kStoreRefused));
  publisher_.TellOfStandstill(why);
}

}  // namespace leadline::control
