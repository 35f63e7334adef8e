// The errors that users and programs meet, by name: the one home of their
// meanings, exit codes and ways out. docs/errors.md is written from it.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <absl/status/status.h>

namespace leadline {

enum class ErrorCode {
  kMisuse,
  kSweepFile,
  kConflict,
  kCancelled,
  kTooLarge,
  kUnsupported,
  kDamaged,
  kInternal,
  kOutput,
  kFile,
  kNodeAway,
  kDiskFull,
  kStoreRefused,
  kStateInUse,
  kStateUnusable,
  kAddressInUse,
  kAddressUnusable,
  kNewerSchema,
  kForeignDatabase,
  kNameTaken,
  kVersionMismatch,
  kLeftovers,
  kTrialsFailed,
  kUnreachable,
  kNoAnswer,
  kUnauthenticated,
  kForbidden,
  kNotFound,
  kNothingCanRun,
  kInterrupted,
};

struct ErrorRow {
  ErrorCode code;
  std::string_view name;  // "newer_schema": in JSON, in logs, on the wire
  int exit_code;          // of `leadline`; see ServiceExitCode
  std::string_view meaning;
  std::string_view advice;
};

/// All of them, ordered by exit code.
std::span<const ErrorRow> ErrorTable();

const ErrorRow& RowOf(ErrorCode code);
std::string_view Name(ErrorCode code);

/// Null if no error has that name.
std::optional<ErrorCode> ReadErrorCode(std::string_view name);

/// Says which error it is, where its absl code alone does not. OK stays OK; the
/// first code noted stands.
absl::Status WithError(absl::Status status, ErrorCode code);

/// The one noted by WithError; null if there is none.
std::optional<ErrorCode> NotedError(const absl::Status& status);

/// The one noted, else the one that the absl code stands for. Not of OK.
ErrorCode ErrorOf(const absl::Status& status);

/// What a service says as it ends: "PROGRAM: message [name]\n".
std::string LastWords(std::string_view program, const absl::Status& status);

/// The code at the end of what LastWords wrote; null if there is none.
std::optional<ErrorCode> ReadLastWords(std::string_view text);

/// How a service ends: as `leadline` does after misuse and a refusal (2, 5),
/// which starting it again does not mend; else 1.
int ServiceExitCode(const absl::Status& status);

/// docs/errors.md.
std::string ErrorPage();

}  // namespace leadline
