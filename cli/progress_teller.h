// Tells how a sweep goes, as often as its channel bears it.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cli/output.h"
#include "leadline/v1/sweep_service.pb.h"

namespace leadline::cli {

/// On one line of a terminal, which changes; else as lines on each change and
/// every ten seconds. Owned by one thread; time is passed in.
class ProgressTeller {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Lines are on standard output if they are what was asked for.
  ProgressTeller(Output& output, bool lines_are_output)
      : output_(output), lines_are_output_(lines_are_output) {}

  /// Its failures are told at once.
  void Tell(const v1::Progress& progress, Time now);

  /// Tells again what is due.
  void Tick(Time now);

 private:
  std::string Line() const;

  Output& output_;
  bool lines_are_output_;
  std::optional<v1::Progress> last_;
  std::map<std::string, int64_t> told_;
  std::set<std::string> told_failures_;  // by attempt
  std::optional<Time> told_at_;
  bool has_news_ = true;
};

}  // namespace leadline::cli
