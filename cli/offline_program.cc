#include "cli/offline_program.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/local_coordinator.h"

namespace leadline::cli {

absl::Status BecomeOfflineProgram(Context& context,
                                  std::vector<std::string> words) {
  const auto place = ChoosePlace(context.place, ReadPlaceVariables());
  if (!place.ok()) return place.status();
  if (!place->is_local()) {
    return absl::InvalidArgumentError(
        "this works on a state folder, on its own machine, while its "
        "coordinator is stopped: name it with --state DIR");
  }
  const std::string program = ProgramBeside("leadline-coordinator").string();
  words.insert(words.begin(), program);
  words.insert(words.end(), {"--state", place->state.string()});
  if (context.output.json()) words.emplace_back("--json");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  context.output.Flush();
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
