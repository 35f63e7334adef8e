#include "worker/agent/file_keeper.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "worker/agent/attempt_folder.h"
#include "worker/agent/hold_record.h"

namespace leadline::agent {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostWeighings = 64;
constexpr size_t kMostAskers = 1000;

void RemoveFolder(const fs::path& folder, int64_t& count,
                  RemovedFiles& removed) {
  const int64_t bytes = BytesIn(folder);
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) {
    ++removed.failed;
    return;
  }
  ++count;
  removed.bytes += bytes;
}

}  // namespace

RemovedFiles RemoveFilesOf(SweepId sweep, const KeptFiles& files) {
  RemovedFiles removed;
  std::set<CohortId> held;
  for (const AttemptKey& key : KeptAttempts(files)) {
    if (key.cohort.cell.sweep != sweep) continue;
    const fs::path folder = AttemptFolder(files.state, key);
    if (IsHeld(folder)) {
      held.insert(key.cohort);
    } else {
      RemoveFolder(folder, removed.attempts, removed);
    }
  }
  for (const CohortId& cohort : KeptCohorts(files)) {
    if (cohort.cell.sweep != sweep || held.contains(cohort)) continue;
    RemoveFolder(files.checkpoints / ToText(cohort), removed.checkpoints,
                 removed);
  }
  return removed;
}

FileKeeper::FileKeeper(KeptFiles files, Sinks sinks)
    : files_(std::move(files)),
      sinks_(std::move(sinks)),
      thread_([this] { Run(); }) {}

FileKeeper::~FileKeeper() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  changed_.notify_all();
}

void FileKeeper::Remove(SweepId sweep) {
  const std::lock_guard lock(mutex_);
  wanted_.insert(sweep);
  changed_.notify_all();
}

void FileKeeper::Weigh(WeighingTag tag, std::vector<SweepId> sweeps) {
  const std::lock_guard lock(mutex_);
  const auto same =
      std::find_if(weighings_.begin(), weighings_.end(),
                   [&](const auto& one) { return one.sweeps == sweeps; });
  if (same != weighings_.end()) {
    if (same->tags.size() < kMostAskers) same->tags.push_back(tag);
    return;
  }
  if (weighings_.size() >= kMostWeighings) return;
  weighings_.push_back({std::move(sweeps),
                        {tag},
                        std::chrono::steady_clock::now() + kTimeToWeigh});
  changed_.notify_all();
}

std::optional<FileKeeper::Weighing> FileKeeper::NextWeighing() {
  while (!weighings_.empty()) {
    Weighing next = std::move(weighings_.front());
    weighings_.pop_front();
    // Nobody waits for one whose time is over.
    if (std::chrono::steady_clock::now() < next.until) return next;
  }
  return std::nullopt;
}

std::function<void()> FileKeeper::NextTask() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return ending_ || !wanted_.empty() || !weighings_.empty();
  });
  if (ending_) return nullptr;
  // By turns, so that neither keeps the other waiting for ever.
  const bool removes =
      !wanted_.empty() && (removes_next_ || weighings_.empty());
  removes_next_ = !removes;
  if (!removes) {
    auto next = NextWeighing();
    if (!next) return [] {};
    return [this, next = *std::move(next)] { Answer(next); };
  }
  const SweepId next = wanted_.extract(wanted_.begin()).value();
  return [this, next] { sinks_.removed(next, RemoveFilesOf(next, files_)); };
}

void FileKeeper::Answer(const Weighing& weighing) {
  const KeptSize size = WeighFiles(weighing.sweeps, files_, [&] {
    return std::chrono::steady_clock::now() < weighing.until && !IsEnding();
  });
  for (const WeighingTag& tag : weighing.tags) sinks_.weighed({tag, size});
}

bool FileKeeper::IsEnding() {
  const std::lock_guard lock(mutex_);
  return ending_;
}

void FileKeeper::Run() {
  while (const auto task = NextTask()) task();
}

}  // namespace leadline::agent
