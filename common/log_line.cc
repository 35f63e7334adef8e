#include "common/log_line.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "common/harmless_text.h"

namespace leadline {
namespace {

constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warning",
                                                     "error"};

std::string Formatted(const char* pattern, unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string Escape(LogFormat format, uint32_t c) {
  if (format == LogFormat::kText || c == '\n' || c == '\r' || c == '\t') {
    return Escaped(c);
  }
  if (c < 0x10000) return Formatted("\\u%04x", c);
  return Formatted("\\u%04x", 0xD800 + ((c - 0x10000) >> 10U)) +
         Formatted("\\u%04x", 0xDC00 + ((c - 0x10000) & 0x3FFU));
}

std::string Quoted(LogFormat format, std::string_view value) {
  std::string text = "\"";
  for (size_t i = 0; i < value.size();) {
    const Character c = CharacterAt(value, i);
    if (c.bytes == 0) {
      text += format == LogFormat::kJson ? "\\ufffd" : EscapedByte(value[i]);
    } else if (c.code_point == '"' || c.code_point == '\\') {
      text += {'\\', value[i]};
    } else if (DrivesTheReader(c.code_point)) {
      text += Escape(format, c.code_point);
    } else {
      text += value.substr(i, c.bytes);
    }
    i += std::max<size_t>(c.bytes, 1);
  }
  return text + "\"";
}

bool IsPlain(std::string_view value) {
  return !value.empty() &&
         std::all_of(value.begin(), value.end(), [](unsigned char c) {
           return c > ' ' && c < 0x7F && c != '"' && c != '\\' && c != '=';
         });
}

std::string Value(LogFormat format, std::string_view value) {
  if (value.size() > kMostShownBytes) return Quoted(format, Beginning(value));
  return format == LogFormat::kText && IsPlain(value) ? std::string(value)
                                                      : Quoted(format, value);
}

std::string TimeText(std::chrono::system_clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const auto rest =
      std::chrono::duration_cast<std::chrono::milliseconds>(since - seconds);
  const std::time_t whole = seconds.count();
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char text[32];
  const size_t size =
      std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return std::string(text, size) +
         Formatted(".%03uZ", static_cast<unsigned>(rest.count()));
}

}  // namespace

std::string_view Name(LogLevel level) {
  return kLevels[static_cast<size_t>(level)];
}

std::string_view Name(LogFormat format) {
  return format == LogFormat::kText ? "text" : "json";
}

std::optional<LogLevel> ReadLogLevel(std::string_view word) {
  const auto found = std::find(kLevels.begin(), kLevels.end(), word);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLevels.begin());
}

std::optional<LogFormat> ReadLogFormat(std::string_view word) {
  if (word == "text") return LogFormat::kText;
  if (word == "json") return LogFormat::kJson;
  return std::nullopt;
}

std::string LogLine(LogFormat format,
                    std::chrono::system_clock::time_point time, LogLevel level,
                    std::string_view event,
                    std::initializer_list<LogField> fields) {
  const std::string moment = TimeText(time);
  std::string line;
  if (format == LogFormat::kText) {
    line = moment + " " + std::string(Name(level)) + " " + Value(format, event);
    for (const LogField& field : fields) {
      line += " " + std::string(field.key) + "=" + Value(format, field.value);
    }
    return line + "\n";
  }
  line = R"({"time":")" + moment + R"(","level":")" + std::string(Name(level)) +
         R"(","event":)" + Value(format, event);
  for (const LogField& field : fields) {
    line += "," + Quoted(format, field.key) + ":" + Value(format, field.value);
  }
  return line + "}\n";
}

}  // namespace leadline
