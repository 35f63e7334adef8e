#include "program.h"

#include <cerrno>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace leadline::cli_test {
namespace {

std::string ReadAll(int file) {
  std::string text;
  char part[4096];
  while (true) {
    const ssize_t size = read(file, part, sizeof part);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(part, static_cast<size_t>(size));
  }
}

std::vector<char*> Pointers(std::vector<std::string>* words) {
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Program::Program(std::vector<std::string> arguments,
                 const Variables& variables) {
  arguments.insert(arguments.begin(), LEADLINE_PROGRAM);
  std::vector<std::string> environment = {"PATH=/usr/bin:/bin"};
  for (const auto& [key, value] : variables) {
    environment.push_back(key + "=" + value);
  }
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  posix_spawn(&pid_, LEADLINE_PROGRAM, &actions, nullptr,
              Pointers(&arguments).data(), Pointers(&environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Program::~Program() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(out_);
  close(err_);
}

void Program::Signal(int number) const { kill(pid_, number); }

Ended Program::Wait() {
  Ended ended;
  std::jthread reader([&] { ended.err = ReadAll(err_); });
  ended.out = ReadAll(out_);
  reader.join();
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFEXITED(status)) ended.exit_code = WEXITSTATUS(status);
  return ended;
}

}  // namespace leadline::cli_test
