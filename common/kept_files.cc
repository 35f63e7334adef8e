#include "common/kept_files.h"

#include <set>
#include <string>
#include <system_error>

#include <sys/stat.h>

namespace leadline {
namespace {

namespace fs = std::filesystem;

fs::path AttemptsOf(const KeptFiles& files) { return files.state / "attempts"; }

template <typename Id, typename Parse>
std::vector<Id> IdsIn(const fs::path& folder, const Parse& parse) {
  std::vector<Id> found;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (const auto id = parse(entry->path().filename().string())) {
      found.push_back(*id);
    }
  }
  return found;
}

}  // namespace

std::vector<AttemptKey> KeptAttempts(const KeptFiles& files) {
  return IdsIn<AttemptKey>(AttemptsOf(files), ParseAttemptKey);
}

std::vector<CohortId> KeptCohorts(const KeptFiles& files) {
  return IdsIn<CohortId>(files.checkpoints, ParseCohortId);
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

int64_t BytesIn(const fs::path& folder) {
  int64_t bytes = 0;
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(folder, error))) return 0;
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

KeptSize WeighFiles(const std::vector<SweepId>& sweeps,
                    const KeptFiles& files) {
  const std::set<SweepId> wanted(sweeps.begin(), sweeps.end());
  KeptSize size;
  for (const AttemptKey& attempt : KeptAttempts(files)) {
    if (!wanted.contains(attempt.cohort.cell.sweep)) continue;
    ++size.attempts;
    size.bytes += BytesIn(AttemptsOf(files) / ToText(attempt));
  }
  for (const CohortId& cohort : KeptCohorts(files)) {
    if (!wanted.contains(cohort.cell.sweep)) continue;
    ++size.checkpoints;
    size.bytes += BytesIn(files.checkpoints / ToText(cohort));
  }
  return size;
}

}  // namespace leadline
