#include "worker/agent/leftovers.h"

#include <map>
#include <optional>
#include <set>
#include <thread>

#include <signal.h>
#include <unistd.h>

#include "common/ids.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/exact_process.h"
#include "worker/agent/hold_record.h"
#include "worker/agent/trainer_launcher.h"

namespace leadline::agent {
namespace {

/// That of the attempt, and what ranks have below it.
std::vector<std::filesystem::path> RankFolders(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders = {folder};
  const auto hold = ReadHold(folder);
  for (int64_t k = 1; hold && k < hold->ranks; ++k) {
    folders.push_back(
        RankFolder(folder, hold->first_rank + k, hold->first_rank));
  }
  return folders;
}

/// Groups of held attempts whose recorded leader lives under this boot. Of an
/// attempt that is not held every process had gone when its end was told.
std::map<pid_t, AttemptKey> RecordedGroups(const std::filesystem::path& state,
                                           const std::vector<AttemptKey>& held,
                                           const std::string& boot_id) {
  std::map<pid_t, AttemptKey> groups;
  for (const AttemptKey& key : held) {
    for (const auto& folder : RankFolders(AttemptFolder(state, key))) {
      const auto record = ReadProcessRecord(folder);
      if (!record || boot_id.empty() || record->boot_id != boot_id) continue;
      const auto stat = ReadProcStat(record->pid);
      if (stat && stat->start_time == record->start_time &&
          stat->group == record->group) {
        groups.emplace(record->group, key);
      }
    }
  }
  return groups;
}

/// The attempt of this folder that the process carries the mark of.
std::optional<AttemptKey> MarkOf(const ProcStat& process,
                                 const std::filesystem::path& state) {
  const auto value = StartedWith(process.pid, kAttemptFolderVariable);
  if (!value) return std::nullopt;
  std::filesystem::path folder(*value);
  if (RankOfFolder(folder.filename().string())) folder = folder.parent_path();
  const auto key = ParseAttemptKey(folder.filename().string());
  if (!key || AttemptFolder(state, *key) != folder) return std::nullopt;
  return key;
}

struct Leftover {
  ProcStat process;
  AttemptKey attempt;
};

std::vector<Leftover> Find(const std::filesystem::path& state,
                           const std::string& boot_id, HeldAttempts spare) {
  const std::vector<AttemptKey> held = ListHeld(state);
  const auto groups = RecordedGroups(state, held, boot_id);
  const auto is_spared = [&](const AttemptKey& key) {
    const std::filesystem::path folder = AttemptFolder(state, key);
    return spare == HeldAttempts::kSpare && ReadHold(folder) &&
           !IsInterrupted(folder);
  };
  std::vector<Leftover> found;
  for (const ProcStat& process : ListProcesses()) {
    if (!process.IsAlive() || process.pid == getpid()) continue;
    std::optional<AttemptKey> key = MarkOf(process, state);
    const auto group = groups.find(process.group);
    if (!key && group != groups.end()) key = group->second;
    if (key && !is_spared(*key)) found.push_back({process, *key});
  }
  return found;
}

}  // namespace

std::vector<ProcStat> FindLeftovers(const std::filesystem::path& state,
                                    const std::string& boot_id,
                                    HeldAttempts held) {
  std::vector<ProcStat> processes;
  for (const Leftover& leftover : Find(state, boot_id, held)) {
    processes.push_back(leftover.process);
  }
  return processes;
}

bool EndLeftovers(const std::filesystem::path& state,
                  const std::string& boot_id, HeldAttempts held,
                  std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  // A process shows no environment while it becomes another program, so that
  // one look could pass it by.
  bool none_before = false;
  for (const int signal : {SIGTERM, SIGKILL}) {
    const auto deadline = Clock::now() + patience;
    do {
      const auto found = Find(state, boot_id, held);
      if (found.empty() && none_before) return true;
      none_before = found.empty();
      for (const Leftover& leftover : found) {
        const auto folder = AttemptFolder(state, leftover.attempt);
        if (ReadHold(folder)) MarkInterrupted(folder);
        SignalExactly(leftover.process, signal);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } while (Clock::now() < deadline);
  }
  return Find(state, boot_id, held).empty();
}

}  // namespace leadline::agent
