#include "coordinator/spec_reader/syntax_words.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace leadline::spec_reader {
namespace {

constexpr size_t kMostShown = 40;  // code points

/// What the parser says, as far as it is always the same, and what it means.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords =
    {{{"wrongly indented double-quoted scalar",
       "a text that begins with \" does not end with \" on this line"},
      {"wrongly indented single-quoted scalar",
       "a text that begins with ' does not end with ' on this line"},
      {"wrongly indented flow sequence",
       "a list that began with [ has not ended: is a ] missing before this?"},
      {"wrongly indented flow mapping",
       "a map that began with { has not ended: is a } missing before this?"},
      {"missing comma in flow sequence",
       "expected a comma or ] before this part of a list"},
      {"plain scalar cannot start with",
       "a text that begins so must stand in quotation marks"}}};

bool IsContinuation(char c) { return (c & 0xc0) == 0x80; }

/// Behind that many code points.
std::string_view Skip(std::string_view text, int64_t code_points) {
  size_t i = 0;
  for (; code_points > 0 && i < text.size(); --code_points) {
    ++i;
    while (i < text.size() && IsContinuation(text[i])) ++i;
  }
  return text.substr(i);
}

std::string_view LineOf(std::string_view text, int64_t number) {
  for (int64_t line = 1; line < number && !text.empty(); ++line) {
    const size_t end = text.find('\n');
    text = end == text.npos ? std::string_view() : text.substr(end + 1);
  }
  text = text.substr(0, std::min(text.find_first_of("\r\n"), text.size()));
  const size_t last = text.find_last_not_of(" \t");
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

}  // namespace

sweep::Problem SyntaxProblem(std::string_view text, sweep::Position at,
                             std::string_view of_parser) {
  const auto* words = std::ranges::find_if(kWords, [&](const auto& entry) {
    return of_parser.starts_with(entry.first);
  });
  const std::string message(words == kWords.end() ? of_parser : words->second);
  const std::string_view line = LineOf(text, at.line);
  // The parser's marks of quoted texts stand behind the quote.
  if (of_parser.starts_with("missing comma") && at.column > 2 &&
      Skip(line, at.column - 3).starts_with(" \"")) {
    --at.column;
  }
  const std::string_view found = Skip(line, at.column - 1);
  if (found.empty()) return {at, message};
  const std::string_view beyond = Skip(found, kMostShown);
  return {at, "found " +
                  std::string(found.substr(0, found.size() - beyond.size())) +
                  (beyond.empty() ? "" : "...") + ": " + message};
}

}  // namespace leadline::spec_reader
