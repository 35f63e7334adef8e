#include "worker/agent/removed_files.h"

#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "worker/agent/attempt_folder.h"
#include "worker/agent/hold_record.h"

namespace leadline::agent {
namespace {

namespace fs = std::filesystem;

// Calls `take` with the name of every entry of a folder.
template <typename Take>
void ForEachName(const fs::path& folder, const Take& take) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    take(entry->path().filename().string());
  }
}

std::vector<AttemptKey> AttemptsOf(SweepId sweep, const KeptFiles& files) {
  std::vector<AttemptKey> found;
  ForEachName(files.state / "attempts", [&](const std::string& name) {
    const auto key = ParseAttemptKey(name);
    if (key && key->cohort.cell.sweep == sweep) found.push_back(*key);
  });
  return found;
}

std::vector<CohortId> CohortsOf(SweepId sweep, const KeptFiles& files) {
  std::vector<CohortId> found;
  ForEachName(files.checkpoints, [&](const std::string& name) {
    const auto cohort = ParseCohortId(name);
    if (cohort && cohort->cell.sweep == sweep) found.push_back(*cohort);
  });
  return found;
}

/// Of the files in it, not of what links in it lead to.
int64_t BytesIn(const fs::path& folder) {
  int64_t bytes = 0;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    struct stat info {};
    if (lstat(entry->path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      bytes += info.st_size;
    }
  }
  return bytes;
}

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

std::vector<SweepId> KeptSweeps(const KeptFiles& files) {
  std::set<SweepId> sweeps;
  ForEachName(files.state / "attempts", [&](const std::string& name) {
    if (const auto key = ParseAttemptKey(name)) {
      sweeps.insert(key->cohort.cell.sweep);
    }
  });
  ForEachName(files.checkpoints, [&](const std::string& name) {
    if (const auto cohort = ParseCohortId(name)) {
      sweeps.insert(cohort->cell.sweep);
    }
  });
  return {sweeps.begin(), sweeps.end()};
}

RemovedFiles RemoveFilesOf(SweepId sweep, const KeptFiles& files) {
  RemovedFiles removed;
  std::set<CohortId> held;
  for (const AttemptKey& key : AttemptsOf(sweep, files)) {
    const fs::path folder = AttemptFolder(files.state, key);
    if (IsHeld(folder)) {
      held.insert(key.cohort);
    } else {
      RemoveFolder(folder, removed.attempts, removed);
    }
  }
  for (const CohortId& cohort : CohortsOf(sweep, files)) {
    if (held.contains(cohort)) continue;
    RemoveFolder(files.checkpoints / ToText(cohort), removed.checkpoints,
                 removed);
  }
  return removed;
}

FileRemover::FileRemover(KeptFiles files,
                         std::function<void(SweepId, RemovedFiles)> told)
    : files_(std::move(files)),
      told_(std::move(told)),
      thread_([this] { Run(); }) {}

FileRemover::~FileRemover() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  changed_.notify_all();
}

void FileRemover::Remove(SweepId sweep) {
  const std::lock_guard lock(mutex_);
  wanted_.insert(sweep);
  changed_.notify_all();
}

void FileRemover::Run() {
  while (true) {
    SweepId next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !wanted_.empty(); });
      if (ending_) return;
      next = wanted_.extract(wanted_.begin()).value();
    }
    told_(next, RemoveFilesOf(next, files_));
  }
}

}  // namespace leadline::agent
