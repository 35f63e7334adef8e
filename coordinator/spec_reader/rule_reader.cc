#include "coordinator/spec_reader/rule_reader.h"

#include <string>
#include <utility>

namespace leadline::spec_reader {
namespace {

bool ReadSet(const Node& node, sweep::When& when, ValueReader& values) {
  bool is_whole = true;
  for (const Entry& entry : node.entries) {
    auto option = values.ReadOption(entry);
    is_whole = is_whole && option.has_value();
    if (option) when.set.push_back(*std::move(option));
  }
  return is_whole;
}

}  // namespace

sweep::Rule ReadRule(const Node& node, ValueReader& values) {
  sweep::Rule rule{{}, node.at};
  for (const Entry& entry : node.entries) {
    if (!values.IsKey(entry)) continue;
    sweep::Axis pattern{entry.key, {}, entry.at};
    const bool is_list = entry.value.IsList();
    for (const Node& item : entry.value.items) {
      pattern.values.push_back(values.ReadChoice(entry.key, item));
    }
    if (!is_list) {
      pattern.values.push_back(values.ReadChoice(entry.key, entry.value));
    }
    rule.match.push_back(std::move(pattern));
  }
  return rule;
}

std::optional<sweep::When> ReadWhen(const Node& node, ValueReader& values) {
  sweep::When when;
  when.rule.at = node.at;
  bool has_match = false;
  bool has_set = false;
  bool is_whole = true;
  for (const Entry& entry : node.entries) {
    if (entry.key == "match" && values.IsMap("match", entry.value)) {
      when.rule = ReadRule(entry.value, values);
      has_match = true;
    } else if (entry.key == "set" && values.IsMap("set", entry.value)) {
      is_whole = ReadSet(entry.value, when, values) && is_whole;
      has_set = true;
    } else if (entry.key != "match" && entry.key != "set") {
      values.Add(entry.at,
                 "when: there is no " + entry.key + ", expected match and set");
    } else {
      is_whole = false;
    }
  }
  if (!is_whole) return {};
  if (has_match && has_set) return when;
  values.Add(node.at, std::string("when: no ") + (has_match ? "set" : "match") +
                          ", expected match and set");
  return {};
}

}  // namespace leadline::spec_reader
