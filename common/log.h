// Where programs write what happened: one record a line, a fixed event name and
// then key=value. Only a main decides where it goes.

#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace leadline {

enum class LogLevel {
  kDebug,
  kInfo,
  kWarning,
  kError,  // a person must act
};

struct LogField {
  std::string_view key;
  std::string value;
};

/// Thread-safe.
class Log {
 public:
  virtual ~Log() = default;

  /// `event` is a fixed name, "sweep_submitted"; ids stand under fixed keys.
  virtual void Write(LogLevel level, std::string_view event,
                     std::initializer_list<LogField> fields) = 0;
};

/// Drops everything: for tests.
class NoLog final : public Log {
 public:
  void Write(LogLevel, std::string_view,
             std::initializer_list<LogField>) override {}
};

}  // namespace leadline
