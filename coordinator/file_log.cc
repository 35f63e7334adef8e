#include "coordinator/file_log.h"

#include <algorithm>
#include <string>
#include <utility>

#include <absl/status/status.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>

namespace leadline {
namespace {

constexpr size_t kMostBytes = size_t{8} << 20;
constexpr size_t kOlderFiles = 3;

/// Text from outside must not make lines of its own.
std::string Quoted(const std::string& value) {
  const bool plain =
      !value.empty() &&
      std::all_of(value.begin(), value.end(), [](unsigned char c) {
        return c > ' ' && c != '"' && c != '\\' && c != '=' && c != 0x7f;
      });
  if (plain) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      text += '?';
    } else {
      text += c;
    }
  }
  return text + "\"";
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

class FileLog final : public Log {
 public:
  explicit FileLog(std::shared_ptr<spdlog::sinks::rotating_file_sink_mt> sink)
      : logger_("coordinator", std::move(sink)) {
    logger_.set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v",
                        spdlog::pattern_time_type::utc);
    logger_.flush_on(spdlog::level::info);
  }

  void Write(LogLevel level, std::string_view event,
             std::initializer_list<LogField> fields) override {
    const std::string line = LogLine(event, fields);
    logger_.log(ToSpdlog(level), spdlog::string_view_t(line));
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

std::string LogLine(std::string_view event,
                    std::initializer_list<LogField> fields) {
  std::string line = "event=" + std::string(event);
  for (const LogField& field : fields) {
    line += " " + std::string(field.key) + "=" + Quoted(field.value);
  }
  return line;
}

absl::StatusOr<std::unique_ptr<Log>> OpenFileLog(
    const std::filesystem::path& path) {
  try {
    return std::make_unique<FileLog>(
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
            path.string(), kMostBytes, kOlderFiles));
  } catch (const spdlog::spdlog_ex& error) {
    return absl::FailedPreconditionError("cannot write the log " +
                                         path.string() + ": " + error.what());
  }
}

}  // namespace leadline
