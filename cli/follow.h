// Waits for a sweep and tells how it goes.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>
#include <absl/status/statusor.h>

#include "cli/command.h"
#include "cli/connection.h"

namespace leadline::cli {

inline constexpr std::chrono::seconds kGiveUp{60};
inline constexpr std::chrono::seconds kPatience{300};
/// A year: the most that a command is told to wait.
inline constexpr std::chrono::seconds kMostWait{365 * 24 * 60 * 60};

struct FollowOptions {
  /// How long to wait while no device can run any of it; zero: for ever.
  std::chrono::seconds give_up = kGiveUp;
  /// How long to wait for a shared coordinator that went away.
  std::chrono::seconds patience = kPatience;
  /// Progress is what was asked for: lines on standard output.
  bool lines_are_output = false;
};

/// Follows until the sweep has ended and returns the last progress. Failures
/// are told at once, progress on one line of a terminal, or as lines on each
/// change and every ten seconds. Errors: exit code 130 on an interrupt, 7 if
/// nothing could run, 4 if the coordinator has gone and not come back.
absl::StatusOr<v1::Progress> Follow(Context& context, Connection& connection,
                                    const std::string& sweep,
                                    const FollowOptions& options);

/// The flags --give-up and --patience of a command that follows; `when`, as
/// "with --wait: ", begins what a help says of them.
void AddGiveUp(CLI::App& app, int64_t* seconds, const std::string& when = "");
void AddPatience(CLI::App& app, int64_t* seconds, const std::string& when = "");

/// OK if all trials ended well; exit code 3 if some failed or, when `strict`,
/// diverged; exit code 1 if it was cancelled.
absl::Status Verdict(const v1::Progress& last, bool strict);

/// "warning: 2 trials diverged"; empty if none did.
std::string DivergedWarning(const v1::Progress& last);

}  // namespace leadline::cli
