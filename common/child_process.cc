#include "common/child_process.h"

#include <algorithm>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

namespace leadline {
namespace {

constexpr int kFirstOfOurs = STDERR_FILENO + 1;

/// The C structures of posix_spawn, given back when it goes.
class SpawnSettings {
 public:
  explicit SpawnSettings(const ChildProgram& program) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    SetFiles(program);
    SetSignals(program.leads);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  void SetFiles(const ChildProgram& program) {
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    SetOutput(STDOUT_FILENO, program.output);
    SetOutput(STDERR_FILENO, program.errors);
    posix_spawn_file_actions_addclosefrom_np(&actions_, kFirstOfOurs);
    if (program.folder) {
      posix_spawn_file_actions_addchdir_np(&actions_, program.folder->c_str());
    }
  }

  void SetOutput(int number, const ChildOutput& output) {
    if (const int* descriptor = std::get_if<int>(&output)) {
      posix_spawn_file_actions_adddup2(&actions_, *descriptor, number);
      return;
    }
    const auto& file = std::get<OutputFile>(output);
    const int flags =
        O_WRONLY | O_CREAT | O_APPEND | (file.is_new ? O_EXCL : 0);
    posix_spawn_file_actions_addopen(&actions_, number, file.path.c_str(),
                                     flags, 0600);
  }

  void SetSignals(Leads leads) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    const int leading =
        leads == Leads::kSession ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(
        &attributes_, static_cast<int16_t>(leading | POSIX_SPAWN_SETSIGMASK |
                                           POSIX_SPAWN_SETSIGDEF));
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers(texts.size() + 1, nullptr);
  std::ranges::transform(texts, pointers.begin(),
                         [](std::string& text) { return text.data(); });
  return pointers;
}

}  // namespace

std::error_code StartChild(const ChildProgram& program, pid_t& pid) {
  const SpawnSettings settings(program);
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> variables;
  if (program.environment) variables = *program.environment;
  std::vector<char*> given = Pointers(variables);
  const int error =
      posix_spawn(&pid, arguments.front().c_str(), settings.actions(),
                  settings.attributes(), Pointers(arguments).data(),
                  program.environment ? given.data() : environ);
  return {error, std::generic_category()};
}

}  // namespace leadline
