// A log that tests look into.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/log.h"

namespace leadline::agent {

struct LogLine {
  LogLevel level = LogLevel::kDebug;
  std::string event;
  std::map<std::string, std::string> fields;
};

/// Thread-safe.
class KeptLog final : public Log {
 public:
  void Write(LogLevel level, std::string_view event,
             std::initializer_list<LogField> fields) override {
    const std::scoped_lock lock(mutex_);
    LogLine line{level, std::string(event), {}};
    for (const LogField& field : fields) {
      line.fields[std::string(field.key)] = field.value;
    }
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }

  std::vector<LogLine> Of(const std::string& event) const {
    const std::scoped_lock lock(mutex_);
    return Find(event);
  }

  /// The first of that event; an empty one after a minute without.
  LogLine WaitFor(const std::string& event) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60),
                      [&] { return !Find(event).empty(); });
    const std::vector<LogLine> found = Find(event);
    return found.empty() ? LogLine{} : found.front();
  }

 private:
  std::vector<LogLine> Find(const std::string& event) const {
    std::vector<LogLine> found;
    for (const LogLine& line : lines_) {
      if (line.event == event) found.push_back(line);
    }
    return found;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LogLine> lines_;
};

}  // namespace leadline::agent
