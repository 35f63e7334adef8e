#include "cli/since.h"

#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>

#include <absl/status/status.h>

namespace leadline::cli {
namespace {

constexpr int64_t kMost = int64_t{1} << 40;

std::optional<int64_t> SecondsOf(char unit) {
  switch (unit) {
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return std::nullopt;
  }
}

std::optional<int64_t> ParseAgo(const std::string& text, int64_t now) {
  if (text.size() < 2) return std::nullopt;
  const auto unit = SecondsOf(text.back());
  int64_t number = 0;
  const char* const end = text.data() + text.size() - 1;
  const auto read = std::from_chars(text.data(), end, number);
  if (!unit || read.ec != std::errc() || read.ptr != end || number < 0 ||
      number > kMost / *unit) {
    return std::nullopt;
  }
  return std::max<int64_t>(1, now - number * *unit);
}

std::optional<int64_t> ParseMoment(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int used = -1;
  std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &used);
  if (used == 10 && text.size() > 10) {
    used = -1;
    std::sscanf(text.c_str() + 10, "T%2d:%2d:%2dZ%n", &hour, &minute, &second,
                &used);
    if (used >= 0) used += 10;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(month),
                                         std::chrono::day(day)};
  if (used != static_cast<int>(text.size()) || !date.ok() || year < 1971 ||
      hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 59) {
    return std::nullopt;
  }
  const std::chrono::sys_seconds at =
      std::chrono::sys_days(date) + std::chrono::hours(hour) +
      std::chrono::minutes(minute) + std::chrono::seconds(second);
  return at.time_since_epoch().count();
}

}  // namespace

absl::StatusOr<int64_t> ParseSince(const std::string& text, int64_t now) {
  if (const auto ago = ParseAgo(text, now)) return *ago;
  if (const auto moment = ParseMoment(text)) return *moment;
  return absl::InvalidArgumentError(
      "'" + text +
      "' is no time; write 7d, 12h, 30m, 2026-11-29 or 2026-11-29T15:04:05Z");
}

}  // namespace leadline::cli
