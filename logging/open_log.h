// The logs of coordinator and agent: where lines go, in which format, from
// which level on.

#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "common/log.h"
#include "common/log_line.h"

namespace CLI {
class App;
}

namespace leadline {

struct LogOptions {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;
};

/// As words, for flags and configuration files.
struct LogFlags {
  std::string format = "text";
  std::string level = "info";
};

/// Adds --log-format and --log-level, which accept their words alone.
void AddLogFlags(CLI::App& app, LogFlags& flags);

/// Of flags that were checked.
LogOptions ToLogOptions(const LogFlags& flags);

/// A file of at most 8 MiB and three older ones. A full disk costs lines, never
/// the process: how many is the first line once there is room again.
/// FailedPrecondition if the file cannot be opened.
absl::StatusOr<std::unique_ptr<Log>> OpenFileLog(
    const std::filesystem::path& path, const LogOptions& options);

/// Standard error, for service managers that keep what a program prints.
std::unique_ptr<Log> OpenStandardErrorLog(const LogOptions& options);

}  // namespace leadline
