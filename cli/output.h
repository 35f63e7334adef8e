// Where a command speaks: results on standard output, all else on standard
// error.

#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "cli/json.h"
#include "cli/terminal.h"

namespace leadline::cli {

/// Owned by one thread.
/// The document of --json that tells an error.
std::string ErrorDocument(const absl::Status& status);

class Output {
 public:
  Output(Style out, Style err, bool json) : out_(out), err_(err), json_(json) {}

  const Style& out() const { return out_; }
  const Style& err() const { return err_; }
  bool json() const { return json_; }

  /// Text for people, on standard output. Nothing with --json.
  void Print(std::string_view text);

  /// Bytes as they are, on standard output.
  void Raw(std::string_view bytes);

  /// False once standard output took something no more.
  bool is_writable() const { return write_error_ == 0; }

  /// Hands what was printed on.
  void Flush();

  /// The one document of --json.
  void PrintJson(const Json& json);

  /// A line on standard error, for people. Nothing with --json unless a person
  /// may be reading.
  void Note(std::string_view line);

  /// A line on standard error that the next Status or Note replaces. Only on a
  /// terminal.
  void Status(std::string_view line);

  /// Prints the error, if it is one, in the form asked for, and sees to it that
  /// all was written. Returns the exit code.
  int Finish(absl::Status status);

 private:
  void ClearStatus();
  void PrintError(const absl::Status& status);
  void NoteError(bool is_written);

  Style out_;
  Style err_;
  bool json_;
  int write_error_ = 0;  // the first errno of standard output
  std::string status_;   // what stands on the terminal's last line
};

}  // namespace leadline::cli
