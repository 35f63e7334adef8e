#include "coordinator/spec_reader/value_reader.h"

#include <filesystem>

#include "common/nearest_name.h"
#include "model/spec/method_table.h"

namespace leadline::spec_reader {
namespace {

constexpr size_t kLongestText = 1000;

std::vector<std::string_view> Keys() {
  std::vector<std::string_view> keys = {"dataset"};
  for (const spec::SettingInfo& setting : spec::SettingsTable()) {
    keys.push_back(setting.key);
  }
  return keys;
}

std::vector<std::string_view> MethodNames() {
  std::vector<std::string_view> names;
  for (const spec::MethodInfo& method : spec::MethodTable()) {
    names.push_back(method.name);
  }
  return names;
}

bool HasControlCharacter(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}

}  // namespace

std::string Shown(const Node& node) {
  if (node.IsList()) return "a list";
  if (node.IsMap()) return "a map";
  if (node.is_plain && node.text.empty()) return "nothing";
  constexpr size_t kMostShown = 60;
  std::string text = node.text.substr(0, kMostShown);
  // Never half a code point.
  while (text.size() < node.text.size() && !text.empty() &&
         (static_cast<unsigned char>(node.text[text.size()]) & 0xc0) == 0x80) {
    text.pop_back();
  }
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() < node.text.size()) text += "...";
  return node.is_plain ? text : "the quoted text \"" + text + "\"";
}

void ValueReader::Add(sweep::Position at, std::string message) {
  problems_.push_back({at, std::move(message)});
}

bool ValueReader::IsList(std::string_view what, const Node& node) {
  if (node.IsList()) return true;
  Add(node.at,
      std::string(what) + ": found " + Shown(node) + ", expected a list");
  return false;
}

bool ValueReader::IsMap(std::string_view what, const Node& node) {
  if (node.IsMap()) return true;
  Add(node.at,
      std::string(what) + ": found " + Shown(node) + ", expected a map");
  return false;
}

bool ValueReader::IsKey(const Entry& entry) {
  if (entry.key == "dataset" || spec::FindSetting(entry.key)) return true;
  Node key;
  key.text = entry.key;
  Add(entry.at,
      "there is no setting " + Shown(key) + DidYouMean(entry.key, Keys()));
  return false;
}

std::optional<int64_t> ValueReader::ReadInteger(std::string_view what,
                                                const Node& node, int64_t least,
                                                int64_t most) {
  const spec::SettingInfo range{.key = what,
                                .least = static_cast<double>(least),
                                .most = static_cast<double>(most)};
  const auto value = ReadSetting(range, node);
  if (!value) return {};
  return std::get<int64_t>(*value);
}

std::optional<std::string> ValueReader::ReadText(std::string_view what,
                                                 const Node& node) {
  if (!node.IsScalar() || node.text.empty()) {
    Add(node.at,
        std::string(what) + ": found " + Shown(node) + ", expected a text");
    return {};
  }
  if (node.text.size() > kLongestText) {
    Add(node.at, std::string(what) + ": expected at most " +
                     std::to_string(kLongestText) + " bytes");
    return {};
  }
  // Who reads the database elsewhere would see the text end there.
  if (node.text.find('\0') != std::string::npos) {
    Add(node.at, std::string(what) +
                     ": found the character NUL, expected a text without it");
    return {};
  }
  return node.text;
}

std::optional<spec::Value> ValueReader::ReadSetting(
    const spec::SettingInfo& setting, const Node& node) {
  if (setting.kind == spec::ValueKind::kHash) {
    return ReadCheckpoint(setting, node);
  }
  if (setting.kind == spec::ValueKind::kPath) {
    Add(node.at, std::string(setting.key) +
                     " cannot be given: it follows from init_from");
    return {};
  }
  auto read = node.IsScalar()
                  ? spec::ParseValue(setting, node.text)
                  : std::variant<spec::Value, std::string>(
                        std::in_place_index<1>, spec::ExpectedText(setting));
  auto* value = std::get_if<spec::Value>(&read);
  // A quoted number is a text: refused, though it would parse.
  const bool is_word = value && std::holds_alternative<std::string>(*value);
  if (value && (node.is_plain || is_word)) return std::move(*value);
  Add(node.at, std::string(setting.key) + ": found " + Shown(node) +
                   ", expected " + spec::ExpectedText(setting));
  return {};
}

std::optional<spec::Value> ValueReader::ReadCheckpoint(
    const spec::SettingInfo& setting, const Node& node) {
  if (node.is_plain && node.IsScalar() && node.text == setting.words.front()) {
    return node.text;
  }
  std::optional<std::string> path = ReadAbsolute(setting.key, node);
  if (!path) return {};
  // A folder may be written with a slash at its end.
  if (path->size() > 1 && path->ends_with('/')) path->pop_back();
  const auto [known, is_new] = opened_.try_emplace(*path);
  if (!is_new) return known->second;
  const absl::StatusOr<CheckpointFacts> facts =
      inspect_checkpoint_ ? inspect_checkpoint_(*path)
                          : absl::UnimplementedError("there are none here");
  if (!facts.ok()) {
    Add(node.at, std::string(setting.key) + ": " +
                     std::string(facts.status().message()));
    return {};
  }
  known->second = facts->hash;
  checkpoints_.try_emplace(facts->hash, sweep::Checkpoint{*path, facts->start});
  return facts->hash;
}

sweep::Choice ValueReader::ReadChoice(std::string_view key, const Node& node) {
  sweep::Choice choice{.value = {}, .at = node.at};
  if (key == "dataset") {
    if (auto dataset = ReadDataset(node)) choice.value = *std::move(dataset);
  } else if (key == "method") {
    if (auto method = ReadMethod(node)) choice.value = *std::move(method);
  } else if (auto value = ReadSetting(*spec::FindSetting(key), node)) {
    choice.value = *std::move(value);
  }
  return choice;
}

std::optional<sweep::Option> ValueReader::ReadOption(const Entry& entry) {
  if (!IsKey(entry)) return {};
  if (entry.key == "method" || entry.key == "dataset") {
    Add(entry.at, entry.key + " cannot stand here");
    return {};
  }
  auto value = ReadSetting(*spec::FindSetting(entry.key), entry.value);
  if (!value) return {};
  return sweep::Option{entry.key, *std::move(value), entry.at};
}

std::optional<std::string> ValueReader::ReadMethodName(const Node& node) {
  if (node.IsScalar() && spec::FindMethod(node.text)) return node.text;
  Add(node.at, "method: found " + Shown(node) +
                   ", expected the name of a method" +
                   (node.IsScalar() ? DidYouMean(node.text, MethodNames())
                                    : std::string()));
  return {};
}

std::optional<sweep::Method> ValueReader::ReadMethod(const Node& node) {
  sweep::Method method;
  if (!node.IsMap()) {
    const auto name = ReadMethodName(node);
    if (!name) return {};
    method.name = *name;
    return method;
  }
  bool is_whole = true;
  for (const Entry& entry : node.entries) {
    if (entry.key == "name") {
      const auto name = ReadMethodName(entry.value);
      method.name = name.value_or("");
      is_whole = is_whole && name.has_value();
    } else if (auto option = ReadOption(entry)) {
      method.options.push_back(*std::move(option));
    } else {
      is_whole = false;
    }
  }
  if (method.name.empty() && is_whole) {
    Add(node.at, "method: found a map without name");
    return {};
  }
  if (!is_whole) return {};
  return method;
}

std::optional<std::string> ValueReader::ReadAbsolute(std::string_view what,
                                                     const Node& node) {
  const auto text = ReadText(what, node);
  if (!text) return {};
  if (HasControlCharacter(*text)) {
    Add(node.at, std::string(what) + ": found a control character");
    return {};
  }
  return (std::filesystem::path(base_folder_) / *text)
      .lexically_normal()
      .string();
}

}  // namespace leadline::spec_reader
