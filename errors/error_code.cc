#include "errors/error_code.h"

#include <algorithm>

#include <absl/strings/cord.h>

#include "common/harmless_text.h"

namespace leadline {
namespace {

constexpr char kPayload[] = "leadline/error";
// What starting a service again does not mend.
constexpr int kMisuseCode = 2;
constexpr int kRefusedCode = 5;

}  // namespace

const ErrorRow& RowOf(ErrorCode code) {
  const auto table = ErrorTable();
  return *std::ranges::find(table, code, &ErrorRow::code);
}

std::string_view Name(ErrorCode code) { return RowOf(code).name; }

std::optional<ErrorCode> ReadErrorCode(std::string_view name) {
  const auto table = ErrorTable();
  const auto row = std::ranges::find(table, name, &ErrorRow::name);
  if (row == table.end()) return std::nullopt;
  return row->code;
}

absl::Status WithError(absl::Status status, ErrorCode code) {
  if (!status.ok() && !NotedError(status)) {
    status.SetPayload(kPayload, absl::Cord(std::string(Name(code))));
  }
  return status;
}

std::optional<ErrorCode> NotedError(const absl::Status& status) {
  const auto noted = status.GetPayload(kPayload);
  if (!noted.has_value()) return std::nullopt;
  return ReadErrorCode(std::string(*noted));
}

ErrorCode ErrorOf(const absl::Status& status) {
  if (const auto noted = NotedError(status)) return *noted;
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ErrorCode::kMisuse;
    case absl::StatusCode::kUnavailable:
      return ErrorCode::kUnreachable;
    case absl::StatusCode::kDeadlineExceeded:
      return ErrorCode::kNoAnswer;
    case absl::StatusCode::kUnauthenticated:
      return ErrorCode::kUnauthenticated;
    case absl::StatusCode::kPermissionDenied:
      return ErrorCode::kForbidden;
    case absl::StatusCode::kNotFound:
      return ErrorCode::kNotFound;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kAborted:
      return ErrorCode::kConflict;
    case absl::StatusCode::kResourceExhausted:
      return ErrorCode::kTooLarge;
    case absl::StatusCode::kUnimplemented:
      return ErrorCode::kUnsupported;
    case absl::StatusCode::kDataLoss:
      return ErrorCode::kDamaged;
    case absl::StatusCode::kCancelled:
      return ErrorCode::kCancelled;
    default:
      return ErrorCode::kInternal;
  }
}

std::string LastWords(std::string_view program, const absl::Status& status) {
  return std::string(program) + ": " +
         HarmlessText(std::string(status.message())) + " [" +
         std::string(Name(ErrorOf(status))) + "]\n";
}

std::optional<ErrorCode> ReadLastWords(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  const size_t begin = text.rfind(" [");
  if (!text.ends_with(']') || begin == std::string_view::npos) {
    return std::nullopt;
  }
  return ReadErrorCode(text.substr(begin + 2, text.size() - begin - 3));
}

int ServiceExitCode(const absl::Status& status) {
  const int code = RowOf(ErrorOf(status)).exit_code;
  return code == kMisuseCode || code == kRefusedCode ? code : 1;
}

std::string ErrorPage() {
  std::string page =
      "# Errors\n\n"
      "Written from `errors/error_table.cc`; a test compares.\n\n"
      "An error is one message that says what failed, where, and what can be "
      "done. With `--json` it is\n"
      "`{\"error\": {\"code\", \"exit_code\", \"message\", \"where\"}}` on "
      "standard error, `code` one of the names below; of a sweep file with\n"
      "`problems`, a list of `line`, `column` and `message`. Coordinator and "
      "agent end with `PROGRAM: message [code]` on standard\n"
      "error, with the exit code below where that is 2 (misuse) or 5 "
      "(refused), "
      "which starting again does not mend, and with 1 otherwise.\n\n"
      "| code | exit code of `leadline` | what it means | what to do |\n"
      "| --- | --- | --- | --- |\n";
  for (const ErrorRow& row : ErrorTable()) {
    page += "| `" + std::string(row.name) + "` | " +
            std::to_string(row.exit_code) + " | " + std::string(row.meaning) +
            " | " + std::string(row.advice) + " |\n";
  }
  page +=
      "\nA trial that fails is no error of a command but a result with a "
      "*kind*: `docs/failures.md` lists those.\n";
  return page;
}

}  // namespace leadline
