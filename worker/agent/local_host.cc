#include "worker/agent/local_host.h"

#include <utility>

#include "worker/agent/attempt_folder.h"
#include "worker/agent/end_report.h"
#include "worker/agent/order_socket.h"
#include "worker/agent/proc_stat.h"
#include "worker/agent/process_group.h"
#include "worker/agent/trainer_launcher.h"

namespace leadline::agent {
namespace {

constexpr size_t kLastWordBytes = 2048;

class LocalTrainer final : public Trainer {
 public:
  LocalTrainer(ProcessGroup group, std::filesystem::path folder,
               int64_t oom_kills)
      : folder_(std::move(folder)),
        group_(std::move(group)),
        orders_(folder_),
        oom_kills_before_(oom_kills) {}

  pid_t pid() const override { return group_.leader(); }
  bool IsGone() override { return group_.IsGone(); }
  const std::optional<ExitStatus>& status() const override {
    return group_.status();
  }
  void Signal(int signal) override { group_.Signal(signal); }
  bool SendOrder(std::string_view order,
                 std::chrono::steady_clock::time_point as_of) override {
    return orders_.Send(order, as_of);
  }
  EndTraces Traces() const override {
    return {CountOomKills() > oom_kills_before_,
            LastWords(ReadEnd(folder_ / "stderr.log", kLastWordBytes))};
  }

 private:
  std::filesystem::path folder_;
  ProcessGroup group_;
  OrderSocket orders_;
  int64_t oom_kills_before_;
};

/// The trainer of an attempt that was held but never recorded, the agent having
/// died in between: known by its environment, and that it leads its group.
std::optional<ProcessRecord> FindUnrecorded(const std::filesystem::path& folder,
                                            const std::string& boot_id) {
  for (const ProcStat& process : ListProcesses()) {
    if (process.IsAlive() && process.pid == process.group &&
        WasStartedWith(process.pid, AttemptVariable(folder))) {
      return ProcessRecord{boot_id, process.pid, process.start_time,
                           process.group, folder.filename().string()};
    }
  }
  return std::nullopt;
}

bool HasEvents(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "events.jsonl", error);
}

}  // namespace

std::string LocalHost::Folder(const AttemptKey& attempt) const {
  return AttemptFolder(options_.state, attempt).string();
}

absl::StatusOr<std::unique_ptr<Trainer>> LocalHost::Start(
    const AttemptKey& attempt, const TrainerOrder& order) {
  const std::filesystem::path folder = AttemptFolder(options_.state, attempt);
  if (absl::Status made = MakeAttemptFolder(folder); !made.ok()) return made;
  absl::Status written = WriteFile(folder / "config.json", order.config + "\n");
  if (written.ok()) written = WriteHold(folder, order.hold);
  if (!written.ok()) return written;
  const int64_t oom_kills = CountOomKills();
  absl::StatusOr<pid_t> pid =
      LaunchTrainer({options_.trainer, folder, order.threads});
  if (!pid.ok()) {
    ReleaseHold(folder);
    return pid.status();
  }
  const auto stat = ReadProcStat(*pid);
  // Without it a later agent still knows the trainer by its environment, and a
  // full disk is the trainer's own failure to report.
  (void)WriteProcessRecord(
      folder, {options_.boot_id, *pid, stat ? stat->start_time : 0, *pid,
               ToText(attempt)});
  return std::make_unique<LocalTrainer>(
      ProcessGroup(*pid, {AttemptVariable(folder), &orphans_}), folder,
      oom_kills);
}

std::unique_ptr<EventLines> LocalHost::Events(const AttemptKey& attempt) {
  return std::make_unique<EventTail>(AttemptFolder(options_.state, attempt) /
                                     "events.jsonl");
}

std::vector<FoundAttempt> LocalHost::FindHeld() {
  std::vector<FoundAttempt> held;
  for (const AttemptKey& key : ListHeld(options_.state)) {
    if (auto found = Find(key)) held.push_back(*std::move(found));
  }
  return held;
}

std::optional<FoundAttempt> LocalHost::Find(const AttemptKey& key) {
  const std::filesystem::path folder = AttemptFolder(options_.state, key);
  auto hold = ReadHold(folder);
  auto process = ReadProcessRecord(folder);
  if (hold && !process) process = FindUnrecorded(folder, options_.boot_id);
  if (hold && !process && HasEvents(folder)) {
    process = ProcessRecord{options_.boot_id, 0, 0, 0, ToText(key)};
  }
  // Its trainer was never started: leftovers have ended, and none is known.
  if (!hold || !process) {
    ReleaseHold(folder);
    return std::nullopt;
  }
  FoundAttempt found{
      key, *std::move(hold), nullptr, IsInterrupted(folder),
      process->boot_id != options_.boot_id || options_.boot_id.empty()};
  // Numbers of another boot say nothing under this one; no process began at 0.
  const uint64_t start_time = found.machine_restarted ? 0 : process->start_time;
  found.trainer = std::make_unique<LocalTrainer>(
      ProcessGroup::Adopt(process->pid, start_time,
                          {AttemptVariable(folder), &orphans_}),
      folder, CountOomKills());
  return found;
}

void LocalHost::MarkInterrupted(const AttemptKey& attempt) {
  agent::MarkInterrupted(AttemptFolder(options_.state, attempt));
}

void LocalHost::Release(const AttemptKey& attempt) {
  ReleaseHold(AttemptFolder(options_.state, attempt));
}

}  // namespace leadline::agent
