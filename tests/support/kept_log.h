// A log that a test reads.

#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "common/log.h"

namespace leadline::test {

/// Thread-safe.
class KeptLog final : public Log {
 public:
  void Write(LogLevel, std::string_view event,
             std::initializer_list<LogField> fields) override {
    std::string line(event);
    for (const LogField& field : fields) {
      line += " " + std::string(field.key) + "=" + field.value;
    }
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }

  /// "event key=value key=value", oldest first.
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace leadline::test
