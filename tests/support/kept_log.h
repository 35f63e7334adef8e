// A log that a test reads.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/log.h"

namespace leadline::test {

struct LogLine {
  LogLevel level = LogLevel::kDebug;
  std::string event;
  std::map<std::string, std::string> fields;
  std::string text;  // "event key=value key=value", in the order written
};

/// Thread-safe.
class KeptLog final : public Log {
 public:
  void Write(LogLevel level, std::string_view event,
             std::initializer_list<LogField> fields) override {
    LogLine line{level, std::string(event), {}, std::string(event)};
    for (const LogField& field : fields) {
      line.fields[std::string(field.key)] = field.value;
      line.text += " " + std::string(field.key) + "=" + field.value;
    }
    const std::scoped_lock lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }

  /// The text of each, oldest first.
  std::vector<std::string> lines() const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> texts;
    for (const LogLine& line : lines_) texts.push_back(line.text);
    return texts;
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

}  // namespace leadline::test
