#include "common/log_line.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "common/utf8_prefix.h"

namespace leadline {
namespace {

// A line is read by people and by tools with limits of their own.
constexpr size_t kMostValueBytes = 4096;

constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warning",
                                                     "error"};

struct Character {
  uint32_t code_point = 0;
  size_t bytes = 0;  // 0: the byte there begins no character of UTF-8
};

Character CharacterAt(std::string_view text, size_t place) {
  const auto first = static_cast<unsigned char>(text[place]);
  if (first < 0x80) return {first, 1};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || place + bytes > text.size()) return {};
  uint32_t value = first & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[place + i]);
    if ((next & 0xC0U) != 0x80) return {};
    value = value << 6U | (next & 0x3FU);
  }
  const bool is_overlong =
      (bytes == 3 && value < 0x800) || (bytes == 4 && value < 0x10000);
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (is_overlong || is_surrogate || value > 0x10FFFF) return {};
  return {value, bytes};
}

// Controls, line and paragraph ends, and what changes the direction of the text
// beside it or cannot be seen.
bool DrivesTheReader(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x061C ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xE0000 && c <= 0xE0FFF);
}

std::string Formatted(const char* pattern, unsigned value) {
  char text[16];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

std::string Escape(LogFormat format, uint32_t c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (format == LogFormat::kText) {
    return Formatted(c < 0x80 ? "\\x%02x" : "\\u{%x}", c);
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
      text += format == LogFormat::kJson
                  ? "\\ufffd"
                  : Formatted("\\x%02x", static_cast<unsigned char>(value[i]));
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
  if (value.size() > kMostValueBytes) {
    // Bytes that are no UTF-8 have no place to cut: any will do.
    std::string_view kept = Utf8Prefix(value, kMostValueBytes);
    if (kept.size() + 4 < kMostValueBytes) {
      kept = value.substr(0, kMostValueBytes);
    }
    return Quoted(format, std::string(kept) + "... (" +
                              std::to_string(value.size()) + " bytes)");
  }
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
