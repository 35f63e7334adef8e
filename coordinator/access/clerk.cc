#include "coordinator/access/clerk.h"

#include <iterator>

namespace leadline::access {
namespace {

constexpr std::chrono::seconds kTurn{1};
constexpr std::chrono::seconds kOneRow{10};
// Whoever is refused chooses none of what makes a kind but the call.
constexpr size_t kMostKinds = 500;

std::string KindOf(const storage::AuditRecord& record) {
  return record.who + "\n" + record.call + "\n" + record.outcome;
}

}  // namespace

Clerk::Clerk(storage::AccessStore& store, Log& log,
             std::function<void()> each_turn)
    : store_(store),
      log_(log),
      each_turn_(std::move(each_turn)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

Clerk::~Clerk() {
  thread_.request_stop();
  thread_.join();
}

void Clerk::Note(storage::AuditRecord record, Written written) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      waiting_.records.push_back(std::move(record));
      waiting_.written.push_back(std::move(written));
      changed_.notify_one();
      return;
    }
  }
  written();
}

void Clerk::NoteRefusal(storage::AuditRecord record) {
  const std::lock_guard lock(mutex_);
  std::string kind = KindOf(record);
  if (!refusals_.contains(kind) && refusals_.size() >= kMostKinds) {
    record.call = "others";
    record.message.clear();
    kind = KindOf(record);
  }
  const auto [found, is_new] = refusals_.try_emplace(kind);
  const int64_t count = is_new ? 0 : found->second.record.count;
  found->second.record = std::move(record);
  found->second.record.count = count + 1;
  changed_.notify_one();
}

void Clerk::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Write(Take(stop));
    each_turn_();
  }
  Batch last;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    last = std::exchange(waiting_, {});
    TakeRefusals(Clock::now(), true, last);
  }
  Write(last);
}

Clerk::Batch Clerk::Take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, kTurn, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !waiting_.records.empty();
  });
  Batch batch = std::exchange(waiting_, {});
  TakeRefusals(Clock::now(), false, batch);
  return batch;
}

void Clerk::TakeRefusals(Clock::time_point now, bool all, Batch& batch) {
  for (auto at = refusals_.begin(); at != refusals_.end();) {
    Refusals& refusals = at->second;
    const bool is_due = now - refusals.written_at >= kOneRow;
    if ((is_due || all) && refusals.record.count > 0) {
      batch.refusals.push_back(refusals.record);
      refusals.record.count = 0;
      refusals.written_at = now;
      ++at;
    } else if (is_due) {
      at = refusals_.erase(at);
    } else {
      ++at;
    }
  }
}

void Clerk::Write(const Batch& batch) {
  for (const storage::AuditRecord& refusal : batch.refusals) {
    log_.Write(LogLevel::kWarning, "call_refused",
               {{"who", refusal.who},
                {"call", refusal.call},
                {"status", refusal.outcome},
                {"message", refusal.message},
                {"count", std::to_string(refusal.count)}});
  }
  std::vector<storage::AuditRecord> records = batch.records;
  records.insert(records.end(), batch.refusals.begin(), batch.refusals.end());
  if (!records.empty()) {
    const absl::Status added = store_.AddAudit(records);
    if (!added.ok()) {
      log_.Write(LogLevel::kError, "audit_not_written",
                 {{"records", std::to_string(records.size())},
                  {"message", std::string(added.message())}});
    }
  }
  for (const Written& written : batch.written) written();
}

}  // namespace leadline::access
