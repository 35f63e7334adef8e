#include "cli/other_program.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/local_coordinator.h"

namespace leadline::cli {

absl::Status BecomeProgram(Output& output, const std::string& name,
                           std::vector<std::string> words) {
  const std::string program = ProgramBeside(name).string();
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  output.Flush();
  // Signals are ours no more.
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  execv(program.c_str(), arguments.data());
  return absl::InternalError(
      fmt::format("cannot start {}: {}; it belongs beside this program",
                  program, std::strerror(errno)));
}

}  // namespace leadline::cli
