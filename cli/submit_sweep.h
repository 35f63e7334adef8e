// Submitting, as `run` and `submit` do it.

#pragma once

#include <string>

#include <CLI/CLI.hpp>
#include <absl/status/statusor.h>

#include "cli/connection.h"
#include "cli/terminal.h"

namespace leadline::cli {

/// What the command line says of a submission.
struct SubmitOptions {
  std::string file;
  bool make_new = false;
  bool yes_really = false;
};

void AddSubmitOptions(CLI::App& app, SubmitOptions* options);

/// Stores the sweep, or finds the equal one. InvalidArgument with problems if
/// the file is refused; then nothing was stored.
absl::StatusOr<v1::SubmitReply> SubmitSweep(Connection& connection,
                                            const v1::SubmitRequest& request);

/// The file, read as the options say.
absl::StatusOr<v1::SubmitRequest> SubmitRequestOf(const SubmitOptions& options);

/// "s1 depth study: new, 12 cells, 24 trials".
std::string SubmittedLine(const v1::SubmitReply& reply, const Style& style);

}  // namespace leadline::cli
