// The exit codes of `leadline`, and the one place where an error becomes one.

#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace leadline::cli {

enum class ExitCode : int {
  kDone = 0,
  kFailed = 1,         // the operation failed
  kMisuse = 2,         // arguments or sweep file
  kTrialsFailed = 3,   // the sweep ended and some trials failed
  kUnreachable = 4,    // no coordinator
  kRefused = 5,        // authentication or permission
  kNotFound = 6,       // no such sweep, cell, trial, setting or method
  kNothingCanRun = 7,  // no agent or device that fits, while told to wait
  kInterrupted = 130,
};

/// The code `status` ends the program with: that of ErrorOf(status).
ExitCode ExitCodeOf(const absl::Status& status);

/// Notes where an error belongs: an address, an id, "file:line:column". The
/// first place noted stands.
absl::Status At(absl::Status status, std::string_view where);

/// The place At noted; empty if none.
std::string WhereOf(const absl::Status& status);

/// What the help says of all codes, a line each.
std::string_view ExitCodeHelp();

}  // namespace leadline::cli
