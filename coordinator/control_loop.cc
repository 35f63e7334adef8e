#include "coordinator/control_loop.h"

#include <algorithm>
#include <string>
#include <variant>

#include <absl/status/status.h>

namespace leadline {
namespace {

using control::Answer;
using control::CancelTarget;
using control::Command;
using control::Outcome;
using control::SubmitSweep;

/// One transaction holds at most about this many changes: a commit in progress
/// is a wait for all that came after.
constexpr size_t kMostChanges = 2000;
constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::milliseconds kLongestRetry{5000};

/// Its answer rests on what the store holds, which what waits to be committed
/// is not part of.
bool AsksTheStore(const Command& command) {
  return std::holds_alternative<SubmitSweep>(command) ||
         std::holds_alternative<CancelTarget>(command);
}

template <typename Found>
absl::Status Put(absl::StatusOr<Found> found, Found& into) {
  if (!found.ok()) return found.status();
  into = *std::move(found);
  return absl::OkStatus();
}

bool HasEnded(const control::ProgressReport& report) {
  return report.state == SweepState::kComplete ||
         report.state == SweepState::kCancelled;
}

}  // namespace

control::Moment MomentNow() {
  return {std::chrono::steady_clock::now(),
          std::chrono::time_point_cast<storage::WallTime::duration>(
              std::chrono::system_clock::now())};
}

ControlLoop::ControlLoop(ControlLoopOptions options, storage::Store& store,
                         control::EffectSink& sink, Log& log)
    : options_(std::move(options)), store_(store), sink_(sink), log_(log) {}

absl::StatusOr<std::unique_ptr<ControlLoop>> ControlLoop::Start(
    ControlLoopOptions options, storage::Store& store,
    control::EffectSink& sink, Log& log) {
  std::unique_ptr<ControlLoop> loop(
      new ControlLoop(std::move(options), store, sink, log));
  const absl::Status begun = loop->Begin();
  if (!begun.ok()) return begun;
  loop->thread_ = std::jthread(
      [raw = loop.get()](const std::stop_token& stop) { raw->Run(stop); });
  return loop;
}

ControlLoop::~ControlLoop() { Stop(); }

void ControlLoop::Post(Command command, control::Answered answered) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      queue_.push_back({std::move(command), std::move(answered)});
      changed_.notify_one();
      return;
    }
  }
  answered(absl::UnavailableError("the coordinator is ending"));
}

void ControlLoop::Stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  std::deque<Envelope> left;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    left.swap(queue_);
  }
  for (Envelope& envelope : left) {
    envelope.answered(absl::UnavailableError("the coordinator is ending"));
  }
}

absl::StatusOr<control::Control> ControlLoop::Load() const {
  auto unfinished = store_.LoadUnfinished();
  if (!unfinished.ok()) return unfinished.status();
  const auto next = store_.NextSweepId();
  if (!next.ok()) return next.status();
  return control::Control::Make(options_.policy, options_.work_wanted, *next,
                                *unfinished, options_.now());
}

absl::Status ControlLoop::Begin() {
  auto loaded = Load();
  if (!loaded.ok()) return loaded.status();
  control_ = std::make_unique<control::Control>(*std::move(loaded));
  const Outcome outcome = control_->Begin(options_.now());
  return store_.Commit(outcome.changes);
}

void ControlLoop::Run(const std::stop_token& stop) {
  stop_ = stop;
  control::SteadyTime ticked = options_.now().steady;
  while (!stop.stop_requested()) {
    std::deque<Envelope> envelopes = Take(stop);
    const control::SteadyTime now = options_.now().steady;
    if (now - ticked >= options_.tick) {
      envelopes.push_back({control::Tick{}, [](const auto&) {}});
      ticked = now;
    }
    Handle(std::move(envelopes));
    PublishProgress();
  }
}

std::deque<ControlLoop::Envelope> ControlLoop::Take(
    const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(
      lock, stop, options_.tick,
      [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS { return !queue_.empty(); });
  return std::exchange(queue_, {});
}

void ControlLoop::Handle(std::deque<Envelope> envelopes) {
  Batch batch;
  for (Envelope& envelope : envelopes) {
    if (AsksTheStore(envelope.command)) {
      Flush(batch);
      const absl::Status found = LookUp(envelope.command);
      if (!found.ok()) {
        envelope.answered(found);
        continue;
      }
    }
    batch.outcomes.push_back(control_->Apply(envelope.command, options_.now()));
    batch.answers.push_back(std::move(envelope.answered));
    Outcome& outcome = batch.outcomes.back();
    std::move(outcome.changes.begin(), outcome.changes.end(),
              std::back_inserter(batch.changes));
    if (batch.changes.size() >= kMostChanges) Flush(batch);
  }
  Flush(batch);
}

absl::Status ControlLoop::LookUp(Command& command) const {
  if (auto* submit = std::get_if<SubmitSweep>(&command)) {
    const storage::SweepRecord& sweep = submit->sweep.sweep;
    const absl::Status kept =
        Put(store_.FindAnswer(submit->request_id), submit->kept_answer);
    if (!kept.ok()) return kept;
    return Put(store_.FindEqualSweep(sweep.name, sweep.canonical_hash),
               submit->equal_sweep);
  }
  auto& cancel = std::get<CancelTarget>(command);
  return Put(store_.FindAnswer(cancel.request_id), cancel.kept_answer);
}

void ControlLoop::Flush(Batch& batch) {
  if (!batch.changes.empty()) {
    const absl::Status committed = CommitPatiently(batch.changes);
    if (!committed.ok()) return StartAnew(batch, committed);
  }
  Act(batch);
  batch = {};
}

absl::Status ControlLoop::CommitPatiently(
    const std::vector<storage::Change>& changes) {
  std::chrono::milliseconds wait = kFirstRetry;
  while (true) {
    const absl::Status committed = store_.Commit(changes);
    if (!absl::IsUnavailable(committed) || stop_.stop_requested()) {
      return committed;
    }
    log_.Write(LogLevel::kError, "commit_refused",
               {{"message", std::string(committed.message())}});
    TellOfStandstill(committed);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop_, wait, [] { return false; });
    wait = std::min(wait * 2, kLongestRetry);
  }
}

/// What was told last still holds; what control believes by now does not.
void ControlLoop::TellOfStandstill(const absl::Status& why) {
  for (const auto& [sweep, last] : published_) {
    if (HasEnded(last.report) || !sink_.IsWatched(sweep)) continue;
    control::ProgressReport report = last.report;
    report.can_run = false;
    report.tokens_per_second = 0;
    report.seconds_left.reset();
    report.waiting_for = "nothing can be stored: " + std::string(why.message());
    sink_.Publish(report);
    unpublished_.insert(sweep);  // so that its recovery is told
  }
}

void ControlLoop::Act(Batch& batch) {
  for (size_t i = 0; i < batch.outcomes.size(); ++i) {
    Outcome& outcome = batch.outcomes[i];
    KeepOrphans(outcome.orphans);
    for (const control::AgentOrder& order : outcome.orders) {
      sink_.Deliver(order);
    }
    unpublished_.merge(outcome.touched);
    batch.answers[i](std::move(outcome.answer));
  }
}

void ControlLoop::KeepOrphans(
    const std::vector<storage::OrphanRecord>& orphans) {
  for (const storage::OrphanRecord& orphan : orphans) {
    const std::vector<storage::Change> change = {storage::KeepOrphan{orphan}};
    const absl::Status kept = CommitPatiently(change);
    log_.Write(kept.ok() ? LogLevel::kInfo : LogLevel::kWarning,
               "orphan_record",
               {{"attempt", ToText(orphan.attempt)},
                {"sequence", std::to_string(orphan.sequence)},
                {"kept", kept.ok() ? "yes" : std::string(kept.message())}});
  }
}

/// What control believes is not what the store holds. The store is right.
void ControlLoop::StartAnew(Batch& batch, const absl::Status& why) {
  log_.Write(LogLevel::kError, "commit_failed",
             {{"code", absl::StatusCodeToString(why.code())},
              {"message", std::string(why.message())}});
  const bool work_wanted = control_->state().work_wanted;
  sink_.CloseAllSessions(
      absl::UnavailableError("the coordinator reads its store anew"));
  // At the end of the program the next one reads the store.
  if (LoadPatiently()) BeginAnew(work_wanted);
  for (control::Answered& answered : batch.answers) {
    answered(absl::InternalError("the change could not be stored: " +
                                 std::string(why.message())));
  }
  batch = {};
}

void ControlLoop::BeginAnew(bool work_wanted) {
  Batch begin;
  begin.outcomes.push_back(control_->Begin(options_.now()));
  begin.changes = begin.outcomes.back().changes;
  begin.outcomes.push_back(
      control_->Apply(control::ClientsWantWork{work_wanted}, options_.now()));
  begin.answers.resize(2, [](const auto&) {});
  const absl::Status committed = CommitPatiently(begin.changes);
  if (committed.ok()) return Act(begin);
  log_.Write(LogLevel::kError, "commit_failed",
             {{"message", std::string(committed.message())}});
}

bool ControlLoop::LoadPatiently() {
  std::chrono::milliseconds wait = kFirstRetry;
  while (!stop_.stop_requested()) {
    auto loaded = Load();
    if (loaded.ok()) {
      control_ = std::make_unique<control::Control>(*std::move(loaded));
      return true;
    }
    log_.Write(LogLevel::kError, "load_failed",
               {{"message", std::string(loaded.status().message())}});
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop_, wait, [] { return false; });
    wait = std::min(wait * 2, kLongestRetry);
  }
  return false;
}

void ControlLoop::PublishProgress() {
  const control::SteadyTime now = options_.now().steady;
  for (auto at = unpublished_.begin(); at != unpublished_.end();) {
    const SweepId sweep = *at;
    if (!sink_.IsWatched(sweep)) {
      published_.erase(sweep);
      at = unpublished_.erase(at);
      continue;
    }
    const auto report = control_->Progress(sweep);
    const auto last = published_.find(sweep);
    const bool too_soon = last != published_.end() &&
                          now - last->second.at < options_.publish_every;
    if (report && too_soon && !HasEnded(*report)) {
      ++at;
      continue;
    }
    if (report) {
      sink_.Publish(*report);
      published_[sweep] = {now, *report};
    }
    at = unpublished_.erase(at);
  }
}

}  // namespace leadline
