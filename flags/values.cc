#include "flags/values.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace leadline::flags {
namespace {

std::string Text(int64_t value) { return std::to_string(value); }

std::string Text(double value) {
  char text[std::numeric_limits<double>::max_exponent10 + 20];
  const auto end = std::to_chars(std::begin(text), std::end(text), value,
                                 std::chars_format::fixed);
  return {text, end.ptr};
}

std::string Unexpected(const std::string& value, const std::string& expected) {
  return "'" + value + "', expected " + expected;
}

template <typename T>
CLI::Validator InRange(const std::string& what, T least, T most) {
  // As a help shows it, behind the flag's name.
  CLI::Validator check(Text(least) + ".." + Text(most));
  check.operation([=](const std::string& text) -> std::string {
    T value{};
    if (CLI::detail::lexical_cast(text, value) && value >= least &&
        value <= most) {
      return "";
    }
    return Unexpected(text,
                      what + " from " + Text(least) + " to " + Text(most));
  });
  return check;
}

std::string Listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace

CLI::Validator OneOf(std::vector<std::string> words) {
  CLI::Validator check("");
  check.operation(
      [words = std::move(words)](const std::string& text) -> std::string {
        if (std::find(words.begin(), words.end(), text) != words.end())
          return "";
        return Unexpected(text, Listed(words));
      });
  return check;
}

CLI::Validator WholeNumber(int64_t least, int64_t most) {
  return InRange("a whole number", least, most);
}

CLI::Validator Number(double least, double most) {
  return InRange("a number", least, most);
}

}  // namespace leadline::flags
