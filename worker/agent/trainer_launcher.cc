#include "worker/agent/trainer_launcher.h"

#include <vector>

#include <absl/status/status.h>
#include <absl/strings/str_join.h>
#include <unistd.h>

#include "common/child_process.h"
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

}  // namespace

std::string AttemptVariable(const std::filesystem::path& folder) {
  return std::string(kAttemptFolderVariable) + "=" + folder.string();
}

absl::StatusOr<pid_t> LaunchTrainer(const TrainerLaunch& launch) {
  // A session, not only a group: when the agent dies, a group of its session
  // becomes an orphaned one, and the kernel hangs up on what is stopped in it.
  const ChildProgram trainer = {
      .arguments = {launch.program.string(),
                    (launch.folder / "config.json").string()},
      .environment = Environment(launch),
      .folder = launch.folder,
      .output =
          OutputFile{.path = launch.folder / "stdout.log", .is_new = true},
      .errors =
          OutputFile{.path = launch.folder / "stderr.log", .is_new = true},
      .leads = Leads::kSession};
  pid_t pid = 0;
  const std::error_code error = StartChild(trainer, pid);
  if (!error) return pid;
  const std::string why = "cannot start the trainer " +
                          launch.program.string() + ": " + error.message();
  // Its logs are made with it.
  return IsNoRoom(error.value()) ? absl::UnavailableError(why)
                                 : absl::FailedPreconditionError(why);
}

}  // namespace leadline::agent
