#include <algorithm>
#include <unordered_map>

#include "model/spec/settings.h"
#include "model/spec/settings_groups.h"

namespace leadline::spec {
namespace {

std::vector<SettingInfo> AllSettings() {
  std::vector<SettingInfo> all;
  for (const auto& part :
       {ModelSettings(), MethodSettings(), TrainingSettings(),
        EvaluationSettings(), RunningSettings()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

std::span<const SettingInfo> SettingsTable() {
  static const std::vector<SettingInfo> table = AllSettings();
  return table;
}

const SettingInfo* FindSetting(std::string_view key) {
  static const auto by_key = [] {
    std::unordered_map<std::string_view, const SettingInfo*> map;
    for (const SettingInfo& setting : SettingsTable()) {
      map.emplace(setting.key, &setting);
    }
    return map;
  }();
  const auto found = by_key.find(key);
  return found == by_key.end() ? nullptr : found->second;
}

int SettingsVersion() {
  int version = 1;
  for (const SettingInfo& setting : SettingsTable()) {
    version = std::max(version, setting.since);
  }
  return version;
}

bool BelongsTo(const SettingInfo& setting, std::string_view method) {
  return setting.methods.empty() ||
         std::ranges::find(setting.methods, method) != setting.methods.end();
}

}  // namespace leadline::spec
