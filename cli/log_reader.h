// Reads what a trainer wrote, piece by piece, and prints it as its channel
// bears it.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "cli/connection.h"
#include "cli/output.h"

namespace leadline::cli {

/// A part of the log of one attempt.
struct LogPlace {
  std::string trial;
  int64_t attempt = 0;  // 0: the last
  std::string stream;   // "stdout", "stderr", "events"
  int64_t offset = 0;   // bytes to leave out
  int64_t tail = 0;     // the last lines alone; 0: all
  int64_t rank = 0;
};

struct LogEnd {
  std::string attempt;  // "s1.3.0@2"
  int64_t offset = 0;   // behind what was read
  bool is_complete = true;
};

/// Hands on what there is from `place` on, each piece with the offset behind
/// it; `take` answers whether it wants more. Nobody holds more than a piece of
/// 64 KiB. NotFound if there is no such log, kNodeAway if its node is.
absl::StatusOr<LogEnd> ReadLog(
    Connection& connection, const LogPlace& place,
    const std::function<bool(std::string_view, int64_t offset_after)>& take);

/// On a terminal whole lines, escaped, so that a trainer's output drives no
/// terminal; elsewhere the bytes as they are. Owned by one thread.
class LogPrinter {
 public:
  explicit LogPrinter(Output& output) : output_(output) {}

  /// False once nobody reads what is printed.
  bool Add(std::string_view bytes);

  /// Prints the end of a line that is not complete.
  void Finish();

  bool has_printed() const { return has_printed_; }

 private:
  // Longer ones are printed in parts.
  static constexpr size_t kLongestLine = size_t{64} << 10;

  void Print(size_t bytes);

  Output& output_;
  std::string pending_;
  bool has_printed_ = false;
};

}  // namespace leadline::cli
