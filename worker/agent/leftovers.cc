#include "worker/agent/leftovers.h"

#include <set>
#include <thread>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/ids.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/file_descriptor.h"
#include "worker/agent/trainer_launcher.h"

namespace leadline::agent {
namespace {

std::vector<std::filesystem::path> AttemptFolders(
    const std::filesystem::path& state) {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  std::filesystem::directory_iterator entry(state / "attempts", error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    if (ParseAttemptKey(entry->path().filename().string())) {
      folders.push_back(entry->path());
    }
  }
  return folders;
}

/// Groups whose recorded leader lives under this boot.
std::set<pid_t> RecordedGroups(
    const std::vector<std::filesystem::path>& folders,
    const std::string& boot_id) {
  std::set<pid_t> groups;
  for (const std::filesystem::path& folder : folders) {
    const auto record = ReadProcessRecord(folder);
    if (!record || boot_id.empty() || record->boot_id != boot_id) continue;
    const auto stat = ReadProcStat(record->pid);
    if (stat && stat->start_time == record->start_time &&
        stat->group == record->group) {
      groups.insert(record->group);
    }
  }
  return groups;
}

bool IsOfOneOf(const ProcStat& process,
               const std::vector<std::filesystem::path>& folders) {
  for (const std::filesystem::path& folder : folders) {
    if (WasStartedWith(process.pid, AttemptVariable(folder))) return true;
  }
  return false;
}

/// Signals the very process that was seen: its number may have passed on.
void SignalExactly(const ProcStat& process, int signal) {
  const FileDescriptor handle(
      static_cast<int>(syscall(SYS_pidfd_open, process.pid, 0)));
  const auto now = ReadProcStat(process.pid);
  if (!handle || !now || now->start_time != process.start_time) return;
  syscall(SYS_pidfd_send_signal, handle.get(), signal, nullptr, 0);
}

}  // namespace

std::vector<ProcStat> FindLeftovers(const std::filesystem::path& state,
                                    const std::string& boot_id) {
  const auto folders = AttemptFolders(state);
  if (folders.empty()) return {};
  const auto groups = RecordedGroups(folders, boot_id);
  std::vector<ProcStat> found;
  for (const ProcStat& process : ListProcesses()) {
    if (!process.IsAlive() || process.pid == getpid()) continue;
    if (groups.contains(process.group) || IsOfOneOf(process, folders)) {
      found.push_back(process);
    }
  }
  return found;
}

bool EndLeftovers(const std::filesystem::path& state,
                  const std::string& boot_id,
                  std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  for (const int signal : {SIGTERM, SIGKILL}) {
    const auto deadline = Clock::now() + patience;
    do {
      const auto found = FindLeftovers(state, boot_id);
      if (found.empty()) return true;
      for (const ProcStat& process : found) SignalExactly(process, signal);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    } while (Clock::now() < deadline);
  }
  return false;
}

}  // namespace leadline::agent
