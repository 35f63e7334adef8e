#include "storage/sqlite/json_array.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <system_error>

namespace leadline::storage::sqlite {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string NumberText(double number) {
  if (std::isnan(number)) return "\"nan\"";
  if (std::isinf(number)) return number > 0 ? "\"inf\"" : "\"-inf\"";
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number);
  std::string shortest(text.data(), end.ptr);
  // A whole number stays a REAL where json_each reads it.
  if (shortest.find_first_of(".e") == std::string::npos) shortest += ".0";
  return shortest;
}

std::string WordText(const std::string& word) {
  std::string text = "\"";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte < 0x20) {
      std::array<char, 8> escape;
      std::snprintf(escape.data(), escape.size(), "\\u%04x", byte);
      text += escape.data();
    } else {
      text += c;
    }
  }
  return text + '"';
}

// Reads what this file writes, from the front of `rest`.
bool Take(std::string_view& rest, char c) {
  if (rest.empty() || rest.front() != c) return false;
  rest.remove_prefix(1);
  return true;
}

std::optional<char> TakeEscaped(std::string_view& rest) {
  if (Take(rest, '"')) return '"';
  if (Take(rest, '\\')) return '\\';
  unsigned code = 0;
  if (rest.size() < 5 || rest[0] != 'u') return std::nullopt;
  const auto end = std::from_chars(&rest[1], &rest[1] + 4, code, 16);
  if (end.ptr != &rest[1] + 4 || code >= 0x20) return std::nullopt;
  rest.remove_prefix(5);
  return static_cast<char>(code);
}

std::optional<std::string> TakeWord(std::string_view& rest) {
  if (!Take(rest, '"')) return std::nullopt;
  std::string word;
  while (!Take(rest, '"')) {
    if (rest.empty()) return std::nullopt;
    if (!Take(rest, '\\')) {
      word += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    const std::optional<char> escaped = TakeEscaped(rest);
    if (!escaped) return std::nullopt;
    word += *escaped;
  }
  return word;
}

std::optional<double> TakeNumber(std::string_view& rest) {
  if (!rest.empty() && rest.front() == '"') {
    const std::optional<std::string> word = TakeWord(rest);
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return kInfinity;
    if (word == "-inf") return -kInfinity;
    return std::nullopt;
  }
  double number = 0;
  const auto end =
      std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (end.ec != std::errc()) return std::nullopt;
  rest.remove_prefix(end.ptr - rest.data());
  return number;
}

template <typename T, typename ToText>
std::string ToArray(std::span<const T> values, ToText to_text) {
  std::string text = "[";
  for (const T& value : values) {
    if (text.size() > 1) text += ',';
    text += to_text(value);
  }
  return text + ']';
}

template <typename T, typename TakeOne>
absl::StatusOr<std::vector<T>> FromArray(std::string_view text,
                                         TakeOne take_one) {
  std::vector<T> values;
  std::string_view rest = text;
  bool whole = Take(rest, '[');
  while (whole && !Take(rest, ']')) {
    whole = values.empty() || Take(rest, ',');
    const std::optional<T> value = take_one(rest);
    whole = whole && value.has_value();
    if (whole) values.push_back(*value);
  }
  if (whole && rest.empty()) return values;
  return absl::DataLossError("a stored array cannot be read: " +
                             std::string(text.substr(0, 80)));
}

}  // namespace

std::string NumbersToJson(std::span<const double> numbers) {
  return ToArray(numbers, NumberText);
}

std::string WordsToJson(std::span<const std::string> words) {
  return ToArray(words, WordText);
}

absl::StatusOr<std::vector<double>> NumbersFromJson(std::string_view text) {
  return FromArray<double>(text, TakeNumber);
}

absl::StatusOr<std::vector<std::string>> WordsFromJson(std::string_view text) {
  return FromArray<std::string>(text, TakeWord);
}

}  // namespace leadline::storage::sqlite
