#include "cli/output.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "cli/exit_code.h"
#include "cli/problems.h"
#include "errors/error_code.h"

namespace leadline::cli {
namespace {

bool Write(std::FILE* file, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size();
}

}  // namespace

std::string ErrorDocument(const absl::Status& status) {
  Json error = {{"code", std::string(Name(ErrorOf(status)))},
                {"exit_code", static_cast<int>(ExitCodeOf(status))},
                {"message", std::string(status.message())},
                {"where", WhereOf(status)}};
  for (const Problem& problem : ProblemsOf(status)) {
    error["problems"].push_back({{"line", problem.line},
                                 {"column", problem.column},
                                 {"message", problem.message}});
  }
  return Document({{"error", error}});
}

void Output::Print(std::string_view text) {
  if (!json_) Raw(text);
}

void Output::Raw(std::string_view bytes) {
  ClearStatus();
  NoteError(Write(stdout, bytes));
}

void Output::Flush() { NoteError(std::fflush(stdout) == 0); }

void Output::NoteError(bool is_written) {
  if (!is_written && write_error_ == 0) write_error_ = errno;
}

void Output::PrintJson(const Json& json) { Raw(Document(json)); }

void Output::Note(std::string_view line) {
  if (json_ && !err_.is_terminal) return;
  ClearStatus();
  Write(stderr, std::string(line) + "\n");
}

void Output::Status(std::string_view line) {
  if (!err_.is_terminal) return;
  if (line == status_) return;
  const size_t width = err_.width > 1 ? err_.width - 1 : 1;
  Write(stderr, "\r" + Shorten(line, width, err_.charset) + "\x1b[K");
  status_ = line;
}

void Output::ClearStatus() {
  if (status_.empty()) return;
  Write(stderr, "\r\x1b[K");
  status_.clear();
}

void Output::PrintError(const absl::Status& status) {
  if (json_) {
    Write(stderr, ErrorDocument(status));
    return;
  }
  const std::vector<Problem> problems = ProblemsOf(status);
  if (problems.empty()) {
    Write(stderr,
          "leadline: " +
              PrintableLines(std::string(status.message()), err_.charset) +
              "\n");
  }
  for (const Problem& problem : problems) {
    Write(stderr, err_.Clean(ProblemLine(problem)) + "\n");
  }
}

int Output::Finish(absl::Status status) {
  ClearStatus();
  Flush();
  if (write_error_ != 0 || std::ferror(stdout) != 0) {
    status.Update(
        WithError(absl::DataLossError(fmt::format(
                      "cannot write standard output: {}",
                      std::strerror(write_error_ != 0 ? write_error_ : EIO))),
                  ErrorCode::kOutput));
  }
  if (!status.ok()) PrintError(status);
  std::fflush(stderr);
  return static_cast<int>(ExitCodeOf(status));
}

}  // namespace leadline::cli
