#include "worker/agent/trainer_launcher.h"

#include <cstring>
#include <vector>

#include <absl/status/status.h>
#include <absl/strings/str_join.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "common/no_room.h"

namespace leadline::agent {
namespace {

constexpr std::string_view kThreadVariables[] = {
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"};

std::vector<std::string> Environment(const TrainerLaunch& launch) {
  std::vector<std::string> set = {AttemptVariable(launch.folder)};
  for (const std::string_view name : kThreadVariables) {
    set.push_back(std::string(name) + "=" + std::to_string(launch.threads));
  }
  // Empty: it sees none, whatever the machine has.
  set.push_back("CUDA_VISIBLE_DEVICES=" + absl::StrJoin(launch.gpus, ","));
  std::vector<std::string> variables = set;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& ours : set) {
      replaced = replaced || std::string_view(ours).starts_with(name);
    }
    if (!replaced) variables.emplace_back(text);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The C structures of posix_spawn, given back when it goes.
class SpawnPlan {
 public:
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void Prepare(const std::filesystem::path& folder) {
    constexpr int kLog = O_WRONLY | O_CREAT | O_EXCL | O_APPEND;
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(
        &actions_, 1, (folder / "stdout.log").c_str(), kLog, 0600);
    posix_spawn_file_actions_addopen(
        &actions_, 2, (folder / "stderr.log").c_str(), kLog, 0600);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    // The agent blocks and ignores signals of its own; a trainer starts plain.
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    // A session, not only a group: when the agent dies, a group of its session
    // becomes an orphaned one, and the kernel hangs up on what is stopped in
    // it.
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID |
                                               POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string AttemptVariable(const std::filesystem::path& folder) {
  return std::string(kAttemptFolderVariable) + "=" + folder.string();
}

absl::StatusOr<pid_t> LaunchTrainer(const TrainerLaunch& launch) {
  std::vector<std::string> arguments = {
      launch.program.string(), (launch.folder / "config.json").string()};
  std::vector<std::string> environment = Environment(launch);
  SpawnPlan plan;
  plan.Prepare(launch.folder);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, launch.program.c_str(), plan.actions(),
                                plan.attributes(), Pointers(arguments).data(),
                                Pointers(environment).data());
  if (error != 0) {
    const std::string why = "cannot start the trainer " +
                            launch.program.string() + ": " +
                            std::strerror(error);
    // Its logs are made with it.
    return IsNoRoom(error) ? absl::UnavailableError(why)
                           : absl::FailedPreconditionError(why);
  }
  return pid;
}

}  // namespace leadline::agent
