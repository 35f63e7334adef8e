#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

#include "common/sha256.h"
#include "model/spec/settings.h"

namespace leadline::spec {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Takes digits off the front; false if there is none.
bool TakeDigits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  text.remove_prefix(count);
  return count > 0;
}

/// Digits without a sign, a leading zero or anything else.
bool IsPlainDigits(std::string_view text) {
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  return !leading_zero && TakeDigits(text) && text.empty();
}

bool IsIntegerForm(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return IsPlainDigits(text);
}

/// JSON's forms, and a fraction without the zero before it.
bool IsNumberForm(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::string_view whole = text.substr(0, text.find_first_of(".eE"));
  if (!whole.empty() && !IsPlainDigits(whole)) return false;
  text.remove_prefix(whole.size());
  bool digits = !whole.empty();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!TakeDigits(text)) return false;
    digits = true;
  }
  if (!digits) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (!TakeDigits(text)) return false;
  }
  return text.empty();
}

template <typename Number>
std::optional<Number> Read(std::string_view text) {
  Number number{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

bool IsWordOf(const SettingInfo& setting, std::string_view text) {
  for (std::string_view word : setting.words) {
    if (word == text) return true;
  }
  return false;
}

bool IsPath(std::string_view text) {
  constexpr size_t kMostPathBytes = 4096;
  return text.starts_with('/') && text.size() <= kMostPathBytes &&
         std::none_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
         });
}

/// Of the words that no list can name.
bool IsOpenWordOf(const SettingInfo& setting, std::string_view text) {
  return (setting.kind == ValueKind::kHash && IsSha256(text)) ||
         (setting.kind == ValueKind::kPath && IsPath(text));
}

bool InRange(const SettingInfo& setting, double number) {
  if (!std::isfinite(number)) return false;
  const bool above =
      setting.least_excluded ? number > setting.least : number >= setting.least;
  const bool below =
      setting.most_excluded ? number < setting.most : number <= setting.most;
  return above && below;
}

/// An end of a range as people write it.
std::string EndText(const SettingInfo& setting, double end) {
  if (setting.kind == ValueKind::kInteger) {
    return std::to_string(end >= 0x1p63 ? INT64_MAX
                                        : static_cast<int64_t>(end));
  }
  std::array<char, 32> buffer;
  char* const last = buffer.data() + buffer.size();
  const bool is_short = std::abs(end) < 1e7 && end == std::floor(end);
  const auto result = is_short ? std::to_chars(buffer.data(), last, end,
                                               std::chars_format::fixed)
                               : std::to_chars(buffer.data(), last, end);
  return std::string(buffer.data(), result.ptr);
}

std::string WordsText(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

std::string ExpectedText(const SettingInfo& setting) {
  if (setting.kind == ValueKind::kWord) {
    return (setting.words.size() > 2 ? "one of " : "") +
           WordsText(setting.words);
  }
  if (setting.kind == ValueKind::kHash) {
    return WordsText(setting.words) + ", or a checkpoint";
  }
  if (setting.kind == ValueKind::kPath) {
    return WordsText(setting.words) + ", or an absolute path";
  }
  if (setting.least == setting.most) return EndText(setting, setting.least);
  std::string text =
      setting.kind == ValueKind::kInteger ? "an integer" : "a number";
  text += setting.least_excluded ? " above " : " from ";
  text += EndText(setting, setting.least);
  text += setting.most_excluded    ? " to below "
          : setting.least_excluded ? " up to "
                                   : " to ";
  text += EndText(setting, setting.most);
  if (!setting.words.empty()) {
    text +=
        (setting.words.size() > 1 ? ", " : ", or ") + WordsText(setting.words);
  }
  return text;
}

std::optional<std::string> WhyNot(const SettingInfo& setting,
                                  const Value& value) {
  bool stands = false;
  if (const auto* word = std::get_if<std::string>(&value)) {
    stands = IsWordOf(setting, *word) || IsOpenWordOf(setting, *word);
  } else if (const auto* integer = std::get_if<int64_t>(&value)) {
    stands = setting.kind == ValueKind::kInteger &&
             InRange(setting, static_cast<double>(*integer));
  } else {
    stands = setting.kind == ValueKind::kNumber &&
             InRange(setting, std::get<double>(value));
  }
  if (stands) return {};
  return ExpectedText(setting);
}

std::variant<Value, std::string> ParseValue(const SettingInfo& setting,
                                            std::string_view text) {
  std::optional<Value> value;
  if (IsWordOf(setting, text) || IsOpenWordOf(setting, text)) {
    value = std::string(text);
  } else if (setting.kind == ValueKind::kInteger && IsIntegerForm(text)) {
    if (const auto integer = Read<int64_t>(text)) value = *integer;
  } else if (setting.kind == ValueKind::kNumber && IsNumberForm(text)) {
    if (const auto number = Read<double>(text)) value = *number;
  }
  if (!value || WhyNot(setting, *value)) return ExpectedText(setting);
  return *std::move(value);
}

std::string ToText(const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  if (const auto* integer = std::get_if<int64_t>(&value)) {
    return std::to_string(*integer);
  }
  std::array<char, 32> buffer;
  const auto result = std::to_chars(
      buffer.data(), buffer.data() + buffer.size(), std::get<double>(value));
  std::string text(buffer.data(), result.ptr);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string_view Name(SettingGroup group) {
  switch (group) {
    case SettingGroup::kModel:
      return "model";
    case SettingGroup::kMethod:
      return "method";
    case SettingGroup::kTraining:
      return "training";
    case SettingGroup::kEvaluation:
      return "evaluation";
    case SettingGroup::kRunning:
      return "running";
  }
  return "";
}

}  // namespace leadline::spec
