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

/// A child of this process, in a group of its own.
class LocalTrainer final : public Trainer {
 public:
  LocalTrainer(pid_t pid, std::filesystem::path folder, int64_t oom_kills)
      : folder_(std::move(folder)),
        group_(pid),
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

}  // namespace

std::string LocalHost::Folder(const AttemptKey& attempt) const {
  return AttemptFolder(options_.state, attempt).string();
}

absl::StatusOr<std::unique_ptr<Trainer>> LocalHost::Start(
    const AttemptKey& attempt, const std::string& config, int64_t threads) {
  const std::filesystem::path folder = AttemptFolder(options_.state, attempt);
  if (absl::Status made = MakeAttemptFolder(folder); !made.ok()) return made;
  const absl::Status written = WriteFile(folder / "config.json", config + "\n");
  if (!written.ok()) return written;
  const int64_t oom_kills = CountOomKills();
  absl::StatusOr<pid_t> pid =
      LaunchTrainer({options_.trainer, folder, threads});
  if (!pid.ok()) return pid.status();
  const auto stat = ReadProcStat(*pid);
  // Without it a later agent still knows the trainer by its environment, and a
  // full disk is the trainer's own failure to report.
  (void)WriteProcessRecord(
      folder, {options_.boot_id, *pid, stat ? stat->start_time : 0, *pid,
               ToText(attempt)});
  return std::make_unique<LocalTrainer>(*pid, folder, oom_kills);
}

std::unique_ptr<EventLines> LocalHost::Events(const AttemptKey& attempt) {
  return std::make_unique<EventTail>(AttemptFolder(options_.state, attempt) /
                                     "events.jsonl");
}

}  // namespace leadline::agent
