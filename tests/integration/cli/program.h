// Runs `leadline` as a process of its own.

#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace leadline::cli_test {

struct Ended {
  int exit_code = -1;  // -1: by a signal
  std::string out;
  std::string err;
};

/// A process that runs. Killed when destroyed.
class Program {
 public:
  using Variables = std::map<std::string, std::string>;

  /// The environment is `variables` and a clean PATH, no terminal.
  Program(std::vector<std::string> arguments, const Variables& variables);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void Signal(int number) const;

  /// Reads all it prints and waits for its end.
  Ended Wait();

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
};

}  // namespace leadline::cli_test
