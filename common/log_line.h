// How a log record looks: the one format of every process, as text for people
// or as JSON, a line each.

#pragma once

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "common/log.h"

namespace leadline {

enum class LogFormat {
  kText,  // 2026-01-02T03:04:05.678Z info registered node=n1 message="a b"
  kJson,  // {"time":"...","level":"info","event":"registered","node":"n1"}
};

/// "text", "json".
std::string_view Name(LogFormat format);

/// "debug", "info", "warning", "error".
std::string_view Name(LogLevel level);

/// Null for any other word.
std::optional<LogLevel> ReadLogLevel(std::string_view word);

/// "text" or "json"; null for any other word.
std::optional<LogFormat> ReadLogFormat(std::string_view word);

/// One line with its end. Values may hold any bytes: a line stays one line,
/// drives no terminal, and is strictly valid JSON in UTF-8. Of a long value the
/// beginning is kept, with its length. The time is UTC.
std::string LogLine(LogFormat format,
                    std::chrono::system_clock::time_point time, LogLevel level,
                    std::string_view event,
                    std::initializer_list<LogField> fields);

}  // namespace leadline
