#include "model/spec/identity.h"

#include <functional>

#include "common/sha256.h"
#include "model/spec/json_text.h"

namespace leadline::spec {
namespace {

std::string SplitJson(const Dataset& dataset) {
  std::string json = "[";
  for (const double part : dataset.split) {
    if (json.size() > 1) json += ',';
    json += ToText(part);
  }
  return json + "]";
}

/// An object of those settings that `wanted` names; a map is sorted already.
std::string Object(
    const Settings& settings,
    const std::function<bool(const SettingInfo*, const Value&)>& wanted) {
  std::string json = "{";
  for (const auto& [key, value] : settings.values()) {
    if (!wanted(FindSetting(key), value)) continue;
    if (json.size() > 1) json += ',';
    json += JsonText(key) + ':' + JsonValue(value);
  }
  return json + '}';
}

template <typename Item, typename Write>
std::string Array(const std::vector<Item>& items, Write write) {
  std::string json = "[";
  for (const Item& item : items) {
    if (json.size() > 1) json += ',';
    json += write(item);
  }
  return json + ']';
}

std::string TextOrNull(const std::optional<std::string>& text) {
  return text ? JsonText(*text) : "null";
}

std::string WorldJson(const TrainerConfig& config) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  std::string json = "{\"size\":" + number(config.world_size);
  json += ",\"rank\":" + number(config.rank);
  json += ",\"peers\":" + Array(config.peers, JsonText);
  if (config.world_size > 1) {
    json += ",\"listen\":" + JsonText(config.listen);
    json += ",\"secret\":" + JsonText(config.secret);
    if (config.setup_timeout_s) {
      json += ",\"setup_timeout_s\":" + number(*config.setup_timeout_s);
    }
    if (config.timeout_s) json += ",\"timeout_s\":" + number(*config.timeout_s);
    if (!config.overlap) json += ",\"overlap\":false";
  }
  return json + '}';
}

}  // namespace

bool IsInIdentity(const SettingInfo& setting, const Value& value) {
  if (!setting.identity) return false;
  return setting.since <= 1 || !setting.neutral || value != *setting.neutral;
}

std::string SettingsJson(const Settings& settings) {
  return Object(settings,
                [](const SettingInfo*, const Value&) { return true; });
}

std::string CanonicalCell(const Settings& settings, const Dataset& dataset) {
  std::string json = "{\"dataset\":{";
  // A registered set whose file nobody has hashed yet is known by its name.
  json += dataset.content_hash.empty()
              ? "\"name\":" + JsonText(dataset.name)
              : "\"content_hash\":" + JsonText(dataset.content_hash);
  json += ",\"split\":" + SplitJson(dataset);
  json += ",\"tokenizer\":" + JsonText(dataset.tokenizer);
  json += "},\"settings\":";
  json += Object(settings, [](const SettingInfo* setting, const Value& value) {
    return setting && IsInIdentity(*setting, value);
  });
  return json + '}';
}

std::string CellHash(const Settings& settings, const Dataset& dataset) {
  return Sha256Of(CanonicalCell(settings, dataset));
}

std::string TrainerConfigJson(const TrainerConfig& config) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  std::string json = "{\"version\":1,\"settings\":";
  json += SettingsJson(config.settings);
  json += ",\"seeds\":" + Array(config.seeds, number);
  json += ",\"dataset\":{\"path\":" + JsonText(config.dataset.path);
  json += ",\"content_hash\":" + JsonText(config.dataset.content_hash);
  json += ",\"tokenizer\":" + JsonText(config.dataset.tokenizer);
  json += ",\"split\":" + SplitJson(config.dataset);
  json += "},\"device\":" + JsonText(config.device);
  json += ",\"world\":" + WorldJson(config);
  json += ",\"folder\":" + TextOrNull(config.folder);
  json += ",\"resume\":" + TextOrNull(config.resume);
  return json + '}';
}

}  // namespace leadline::spec
