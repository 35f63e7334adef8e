// Which checkpoint a command is about: one of a trial, or a folder.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "cli/command.h"

namespace leadline::cli {

/// One that a trial's cohort has written, and what this machine sees of it.
struct FoundCheckpoint {
  int64_t step = 0;
  std::string folder;
  int64_t bytes = 0;
  std::string attempt;  // "s1.3.0@2"
  std::string node;
  std::string state;  // "here", "removed", "elsewhere"
};

struct TrialCheckpoints {
  int64_t seed = 0;  // of the trial
  std::string data;  // the data set's file as its trainer opened it
  std::vector<FoundCheckpoint> found;  // by step
  std::string unread;  // why some attempt's are not known; else empty
};

absl::StatusOr<TrialCheckpoints> FindCheckpoints(Connection& connection,
                                                 const std::string& trial);

struct CheckpointTarget {
  std::string target;  // a trial, or the folder of a checkpoint
  std::optional<int64_t> step;
  bool best = false;
  std::optional<int64_t> replica_seed;  // with a folder
};

struct ChosenCheckpoint {
  std::filesystem::path folder;
  int64_t seed = 0;
  std::string data;  // empty where a folder was named
};

/// Adds TARGET, --step, --best and --replica-seed.
void AddCheckpointTarget(CLI::App& app, CheckpointTarget& target);

/// Of a trial the newest on this machine, that of `step`, or the one with the
/// trial's lowest fixed evaluation. NotFound says where it would be.
absl::StatusOr<ChosenCheckpoint> ChooseCheckpoint(
    Context& context, const CheckpointTarget& target);

/// Runs what reads checkpoints: what is wrong with one becomes a status that
/// names `where`.
absl::Status Guarded(const std::string& where,
                     const std::function<absl::Status()>& read);

}  // namespace leadline::cli
