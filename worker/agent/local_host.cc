#include "worker/agent/local_host.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/agent/attempt_folder.h"
#include "worker/agent/checkpoint_folder.h"
#include "worker/agent/devices.h"
#include "worker/agent/end_report.h"
#include "worker/agent/gpu_room.h"
#include "worker/agent/nvml_prober.h"
#include "worker/agent/order_socket.h"
#include "worker/agent/proc_stat.h"
#include "worker/agent/process_group.h"
#include "worker/agent/rank_address.h"
#include "worker/agent/trainer_launcher.h"

namespace leadline::agent {
namespace {

constexpr size_t kLastWordBytes = 2048;
constexpr std::chrono::minutes kBetweenRemovals{10};
constexpr std::chrono::seconds kTimeToEnd{2};
constexpr std::chrono::seconds kPatienceWithDriver{10};
constexpr std::string_view kGpuMark = "GPU-";  // of NVIDIA's UUIDs

double SecondsOf(uint64_t ticks) {
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

class LocalTrainer final : public Trainer {
 public:
  LocalTrainer(ProcessGroup group, std::filesystem::path folder,
               uint64_t start_time, int64_t oom_kills)
      : folder_(std::move(folder)),
        group_(std::move(group)),
        orders_(folder_),
        start_time_(start_time),
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
  bool SendPeers(const std::vector<std::string>& peers,
                 std::chrono::steady_clock::time_point as_of) override {
    return orders_.SendPeers(peers, as_of);
  }
  Activity Look() override {
    Activity activity;
    activity.waits = orders_.Waits();
    struct stat info {};
    if (lstat((folder_ / "events.jsonl").c_str(), &info) == 0) {
      activity.event_bytes = info.st_size;
    }
    if (const auto process = ReadProcStat(pid())) {
      activity.cpu_seconds = SecondsOf(process->cpu_ticks);
      activity.is_stopped = process->IsStopped();
    }
    return activity;
  }
  std::optional<std::string> Address() const override {
    return ReadAddress(folder_);
  }
  EndTraces Traces() const override {
    const std::string last = ReadEnd(folder_ / "events.jsonl", 1);
    return {Oom(), LastWords(ReadEnd(folder_ / "stderr.log", kLastWordBytes)),
            !last.empty() && last != "\n", FreeBytes(folder_)};
  }

 private:
  OomEvidence Oom() const {
    const auto& status = group_.status();
    if (status->IsKnown() && status->signal != SIGKILL) {
      return OomEvidence::kNone;
    }
    if (SeesTrueProcessIds()) {
      const std::string log = ReadKernelLog();
      if (NamesOomKill(log, pid(), SecondsOf(start_time_))) {
        return OomEvidence::kNamed;
      }
      // A log that can be read would name it: what was counted are others.
      if (!log.empty()) return OomEvidence::kNone;
    }
    return CountOomKills() > oom_kills_before_ ? OomEvidence::kCounted
                                               : OomEvidence::kNone;
  }

  std::filesystem::path folder_;
  ProcessGroup group_;
  OrderSocket orders_;
  uint64_t start_time_;
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

/// Those it may see: its own.
std::vector<std::string> GpusOf(const HoldRecord& hold, const RankOrder& rank) {
  return hold.trainer_device == kCpuDevice ? std::vector<std::string>{}
                                           : rank.devices;
}

/// Ends what was started of an attempt that cannot start as a whole.
void EndAll(std::vector<std::unique_ptr<Trainer>>& trainers) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeToEnd;
  for (const auto& trainer : trainers) {
    trainer->Signal(SIGKILL);
    while (!trainer->IsGone() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  trainers.clear();
}

bool HasEvents(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::exists(folder / "events.jsonl", error);
}

}  // namespace

LocalHost::LocalHost(Options options)
    : options_(std::move(options)),
      orphans_(options_.receives_orphans),
      keeper_({options_.state, options_.checkpoints}, options_.on_files),
      gpus_(std::make_unique<NvmlProber>(options_.nvml)) {}

std::vector<SweepId> LocalHost::KeptSweeps() const {
  return leadline::KeptSweeps({options_.state, options_.checkpoints});
}

std::string LocalHost::Folder(const AttemptKey& attempt) const {
  return AttemptFolder(options_.state, attempt).string();
}

std::optional<std::string> LocalHost::ResumeFrom(
    const AttemptKey& attempt) const {
  return FindCheckpoints(options_.checkpoints, attempt);
}

std::optional<std::string> LocalHost::WhyNotOn(
    const std::vector<std::string>& devices, int64_t bytes,
    std::chrono::steady_clock::time_point since) {
  const bool any_gpu = std::ranges::any_of(
      devices, [](const std::string& id) { return id.starts_with(kGpuMark); });
  if (!any_gpu || options_.nvml.empty()) return "";
  const auto found = gpus_.Latest(since);
  if (found) {
    return found->ok() ? WhyNoRoom((*found)->gpus, devices, bytes) : "";
  }
  if (gpus_.Asking() < kPatienceWithDriver) return std::nullopt;
  return "NVIDIA's driver does not answer what is free of its GPUs "
         "(see whether nvidia-smi does)";
}

absl::StatusOr<std::vector<std::unique_ptr<Trainer>>> LocalHost::Start(
    const AttemptKey& attempt, const TrainerOrder& order) {
  const std::filesystem::path folder = AttemptFolder(options_.state, attempt);
  absl::Status room = CheckRoom(order);
  if (!room.ok()) return room;
  absl::Status made = MakeAttemptFolder(folder);
  // Rank 0 alone writes checkpoints.
  if (made.ok() && order.hold.first_rank == 0) {
    made = LinkCheckpoints(options_.checkpoints, attempt, folder);
  }
  if (!made.ok()) return made;
  for (const RankOrder& rank : order.ranks) {
    const auto of_rank = RankFolder(folder, rank.rank, order.hold.first_rank);
    if (of_rank != folder) made = MakeAttemptFolder(of_rank);
    if (made.ok()) {
      made = WriteFile(of_rank / "config.json", rank.config + "\n");
    }
    if (!made.ok()) return made;
  }
  absl::Status written = WriteHold(folder, order.hold);
  if (!written.ok()) return written;
  std::vector<std::unique_ptr<Trainer>> trainers;
  for (const RankOrder& rank : order.ranks) {
    auto trainer = StartRank(attempt, order, rank);
    if (!trainer.ok()) {
      EndAll(trainers);
      ReleaseHold(folder);
      return trainer.status();
    }
    trainers.push_back(*std::move(trainer));
  }
  return trainers;
}

absl::StatusOr<std::unique_ptr<Trainer>> LocalHost::StartRank(
    const AttemptKey& attempt, const TrainerOrder& order,
    const RankOrder& rank) {
  const auto folder = RankFolder(AttemptFolder(options_.state, attempt),
                                 rank.rank, order.hold.first_rank);
  const int64_t oom_kills = CountOomKills();
  absl::StatusOr<pid_t> pid = LaunchTrainer(
      {options_.trainer, folder, order.threads, GpusOf(order.hold, rank)});
  if (!pid.ok()) return pid.status();
  const auto stat = ReadProcStat(*pid);
  const uint64_t start_time = stat ? stat->start_time : 0;
  // Without it a later agent still knows the trainer by its environment, and a
  // full disk is the trainer's own failure to report.
  (void)WriteProcessRecord(
      folder, {options_.boot_id, *pid, start_time, *pid, ToText(attempt)});
  return std::make_unique<LocalTrainer>(
      ProcessGroup(*pid, {AttemptVariable(folder), &orphans_}), folder,
      start_time, oom_kills);
}

absl::Status LocalHost::CheckRoom(const TrainerOrder& order) const {
  const int64_t least = options_.spool.least_free_bytes;
  absl::Status room = CheckFreeSpace(options_.state, {.least = least});
  if (!room.ok() || order.disk_bytes == 0) return room;
  // Nothing is made before there is room.
  std::filesystem::path place = options_.checkpoints;
  std::error_code error;
  while (!std::filesystem::exists(place, error) && place.has_parent_path() &&
         place != place.parent_path()) {
    place = place.parent_path();
  }
  return CheckFreeSpace(place,
                        {.least = least, .checkpoints = order.disk_bytes});
}

std::unique_ptr<EventLines> LocalHost::Events(const AttemptKey& attempt,
                                              int64_t rank) {
  return std::make_unique<EventTail>(
      FindRankFolder(AttemptFolder(options_.state, attempt), rank) /
      "events.jsonl");
}

std::vector<FoundAttempt> LocalHost::FindHeld() {
  RemoveOldSpools();
  std::vector<FoundAttempt> held;
  for (const AttemptKey& key : ListHeld(options_.state)) {
    if (auto found = Find(key)) held.push_back(*std::move(found));
  }
  return held;
}

std::optional<FoundAttempt> LocalHost::Find(const AttemptKey& key) {
  const std::filesystem::path folder = AttemptFolder(options_.state, key);
  auto hold = ReadHold(folder);
  std::vector<std::filesystem::path> folders;
  std::vector<std::optional<ProcessRecord>> processes;
  for (int64_t k = 0; hold && k < hold->ranks; ++k) {
    folders.push_back(
        RankFolder(folder, hold->first_rank + k, hold->first_rank));
    auto process = ReadProcessRecord(folders.back());
    if (!process) process = FindUnrecorded(folders.back(), options_.boot_id);
    if (!process && HasEvents(folders.back())) {
      process = ProcessRecord{options_.boot_id, 0, 0, 0, ToText(key)};
    }
    processes.push_back(std::move(process));
  }
  const auto known = std::ranges::find_if(
      processes, [](const auto& process) { return process.has_value(); });
  // Its trainers were never started: leftovers have ended, and none is known.
  if (known == processes.end()) {
    ReleaseHold(folder);
    return std::nullopt;
  }
  const std::string& boot_id = (*known)->boot_id;
  FoundAttempt found{key,
                     *std::move(hold),
                     {},
                     IsInterrupted(folder),
                     boot_id != options_.boot_id || options_.boot_id.empty()};
  for (size_t k = 0; k < folders.size(); ++k) {
    found.trainers.push_back(
        Adopt(folders[k], processes[k], found.machine_restarted));
  }
  return found;
}

/// One without a record was never started, and so has ended.
std::unique_ptr<Trainer> LocalHost::Adopt(
    const std::filesystem::path& folder,
    const std::optional<ProcessRecord>& process, bool machine_restarted) {
  // Numbers of another boot say nothing under this one; no process began at 0.
  const bool is_known = process && !machine_restarted;
  const uint64_t start_time = is_known ? process->start_time : 0;
  return std::make_unique<LocalTrainer>(
      ProcessGroup::Adopt(process ? process->pid : 0, start_time,
                          {AttemptVariable(folder), &orphans_}),
      folder, start_time, CountOomKills());
}

void LocalHost::MarkInterrupted(const AttemptKey& attempt) {
  agent::MarkInterrupted(AttemptFolder(options_.state, attempt));
}

void LocalHost::Release(const AttemptKey& attempt) {
  ReleaseHold(AttemptFolder(options_.state, attempt));
  RemoveOldSpools();
}

void LocalHost::RemoveOldSpools() {
  const auto now = std::chrono::steady_clock::now();
  if (removed_at_ && now - *removed_at_ < kBetweenRemovals) return;
  removed_at_ = now;
  for (const std::filesystem::path& folder :
       ChooseForRemoval(ListTold(options_.state), options_.spool,
                        std::chrono::system_clock::now())) {
    RemoveSpool(folder);
  }
}

}  // namespace leadline::agent
