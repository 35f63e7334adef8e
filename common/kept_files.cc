#include "common/kept_files.h"

#include <cerrno>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace leadline {
namespace {

namespace fs = std::filesystem;

fs::path AttemptsOf(const KeptFiles& files) { return files.state / "attempts"; }

/// Calls `take` with every entry while it says yes. False if not all were seen,
/// unless because there is no such folder.
template <typename Take>
bool ForEachIn(const fs::path& folder, const Take& take) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (!take(entry->path())) return false;
  }
  return !error || error == std::errc::no_such_file_or_directory;
}

template <typename Id, typename Parse>
bool ReadIds(const fs::path& folder, const Parse& parse, std::vector<Id>& ids) {
  return ForEachIn(folder, [&](const fs::path& path) {
    if (const auto id = parse(path.filename().string())) ids.push_back(*id);
    return true;
  });
}

bool ReadIds(const KeptFiles& files, std::vector<AttemptKey>& attempts,
             std::vector<CohortId>& cohorts) {
  const bool has_attempts =
      ReadIds(AttemptsOf(files), ParseAttemptKey, attempts);
  return ReadIds(files.checkpoints, ParseCohortId, cohorts) && has_attempts;
}

/// False if not all was seen.
bool AddBytes(const fs::path& path, const std::function<bool()>& goes_on,
              int64_t& bytes) {
  bool is_whole = true;
  // Not by calls that nest: folders may, without end.
  std::vector<fs::path> open = {path};
  while (!open.empty()) {
    const fs::path next = std::move(open.back());
    open.pop_back();
    struct stat info {};
    if (!goes_on()) return false;
    if (lstat(next.c_str(), &info) != 0) {
      is_whole = is_whole && errno == ENOENT;
    } else if (S_ISREG(info.st_mode)) {
      bytes += info.st_size;
    } else if (S_ISDIR(info.st_mode)) {
      const bool was_read = ForEachIn(next, [&](const fs::path& entry) {
        open.push_back(entry);
        return true;
      });
      is_whole = is_whole && was_read;
    }
  }
  return is_whole;
}

}  // namespace

std::vector<AttemptKey> KeptAttempts(const KeptFiles& files) {
  std::vector<AttemptKey> attempts;
  ReadIds(AttemptsOf(files), ParseAttemptKey, attempts);
  return attempts;
}

std::vector<CohortId> KeptCohorts(const KeptFiles& files) {
  std::vector<CohortId> cohorts;
  ReadIds(files.checkpoints, ParseCohortId, cohorts);
  return cohorts;
}

std::vector<SweepId> KeptSweeps(const KeptFiles& files) {
  std::set<SweepId> sweeps;
  for (const AttemptKey& attempt : KeptAttempts(files)) {
    sweeps.insert(attempt.cohort.cell.sweep);
  }
  for (const CohortId& cohort : KeptCohorts(files)) {
    sweeps.insert(cohort.cell.sweep);
  }
  return {sweeps.begin(), sweeps.end()};
}

int64_t BytesIn(const fs::path& path) {
  int64_t bytes = 0;
  AddBytes(
      path, [] { return true; }, bytes);
  return bytes;
}

KeptSize WeighFiles(const std::vector<SweepId>& sweeps, const KeptFiles& files,
                    const std::function<bool()>& goes_on) {
  const std::set<SweepId> wanted(sweeps.begin(), sweeps.end());
  std::vector<AttemptKey> attempts;
  std::vector<CohortId> cohorts;
  KeptSize size;
  bool is_whole = ReadIds(files, attempts, cohorts);
  const auto add = [&](const fs::path& path) {
    if (!AddBytes(path, goes_on, size.bytes)) is_whole = false;
  };
  for (const AttemptKey& attempt : attempts) {
    if (!wanted.contains(attempt.cohort.cell.sweep)) continue;
    ++size.attempts;
    add(AttemptsOf(files) / ToText(attempt));
  }
  for (const CohortId& cohort : cohorts) {
    if (!wanted.contains(cohort.cell.sweep)) continue;
    ++size.checkpoints;
    add(files.checkpoints / ToText(cohort));
  }
  size.at_least = !is_whole;
  return size;
}

}  // namespace leadline
