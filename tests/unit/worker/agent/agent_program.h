// The agent's program on a state folder, to be killed and started again.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"

namespace leadline::agent {

class AgentProgram {
 public:
  explicit AgentProgram(std::string coordinator,
                        std::vector<std::string> flags = {})
      : coordinator_(std::move(coordinator)), flags_(std::move(flags)) {
    std::filesystem::create_directory(data() / "data");
    std::ofstream(data() / "data" / "corpus") << "abc";
    Start();
  }
  ~AgentProgram() {
    Kill();
    Run({"--end-leftovers"});
  }
  AgentProgram(const AgentProgram&) = delete;
  AgentProgram& operator=(const AgentProgram&) = delete;

  void Start() {
    ASSERT_EQ(pid_, 0);
    pid_ = Spawn({});
  }

  void Kill() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  /// As by a service manager; its exit code.
  int Terminate() {
    kill(pid_, SIGTERM);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Another run of the program, to its end.
  int Run(const std::vector<std::string>& flags) {
    int status = 0;
    waitpid(Spawn(flags), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Behaviour of the trainers that start from now on.
  void Behave(const std::string& word) {
    std::ofstream(state() / "behaviour") << word;
  }

  /// Lets a trainer that waits for it go on.
  void Go() { std::ofstream(state() / "go") << "yes\n"; }

  std::filesystem::path state() const { return folder_.path() / "state"; }
  std::filesystem::path data() const { return folder_.path(); }
  std::filesystem::path Attempt(const std::string& id) const {
    return state() / "attempts" / id;
  }

 private:
  pid_t Spawn(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        (test::BuildDir() / "leadline-agent").string(),
        "--state",
        state().string(),
        "--coordinator",
        coordinator_,
        "--node",
        "node",
        "--slots",
        "4",
        "--trainer",
        (test::BuildDir() / "tests" / "test_trainer").string()};
    words.insert(words.end(), flags_.begin(), flags_.end());
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      execv(pointers[0], pointers.data());
      _exit(127);
    }
    return pid;
  }

  ScratchFolder folder_;
  std::string coordinator_;
  std::vector<std::string> flags_;
  pid_t pid_ = 0;
};

}  // namespace leadline::agent
