#include "coordinator/control/request_answers.h"

#include <charconv>
#include <variant>

namespace leadline::control {

absl::Status UsedOtherwise(const std::string& request_id) {
  return absl::InvalidArgumentError("request id " + request_id +
                                    " was used for another request");
}

std::optional<std::string> AnswerFor(const std::string& kept,
                                     const std::string& asked) {
  if (!kept.starts_with(asked + " ")) return std::nullopt;
  return kept.substr(asked.size() + 1);
}

std::string NumbersText(const std::vector<int64_t>& numbers) {
  std::string text;
  for (const int64_t number : numbers) {
    if (!text.empty()) text += " ";
    text += std::to_string(number);
  }
  return text;
}

std::optional<std::vector<int64_t>> ReadNumbers(const std::string& text,
                                                size_t count) {
  std::vector<int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (numbers.size() < count) {
    if (!numbers.empty()) {
      if (at == end || *at != ' ') return std::nullopt;
      ++at;
    }
    const auto read = std::from_chars(at, end, numbers.emplace_back());
    if (read.ec != std::errc()) return std::nullopt;
    at = read.ptr;
  }
  if (at != end) return std::nullopt;
  return numbers;
}

std::string ToText(const Target& target) {
  return std::visit([](const auto& id) { return leadline::ToText(id); },
                    target);
}

SweepId SweepOf(const Target& target) {
  struct Visitor {
    SweepId operator()(const SweepId& id) const { return id; }
    SweepId operator()(const CellId& id) const { return id.sweep; }
    SweepId operator()(const TrialId& id) const { return id.cell.sweep; }
  };
  return std::visit(Visitor{}, target);
}

}  // namespace leadline::control
