#include "model/spec/conversion.h"

#include <algorithm>

#include "model/spec/method_table.h"

namespace leadline::spec {
namespace {

std::string Listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

bool Is(const Settings& settings, std::string_view key,
        const std::string& word) {
  const auto found = settings.values().find(key);
  return found != settings.values().end() && found->second == Value(word);
}

/// Options under which sources no longer sum to the stream, or queries are not
/// what starts at zero.
std::vector<SettingError> ChangesOfLogits(const Settings& settings) {
  std::vector<SettingError> errors;
  const auto refuse = [&](std::string_view key, const std::string& why) {
    errors.push_back(
        {std::string(key), std::string(key) + " " +
                               ToText(settings.values().find(key)->second) +
                               " would change the logits: " + why});
  };
  if (Is(settings, "sources", "states")) {
    refuse("sources", "states do not sum to the stream");
  }
  if (Is(settings, "static_mixing", "on")) {
    refuse("static_mixing", "there are no queries to start at zero");
  }
  if (settings.Has("window") && !Is(settings, "window", "off")) {
    refuse("window", "a router would no longer see every update");
  }
  if (settings.Has("router_init_std") &&
      settings.Number("router_init_std") != 0) {
    refuse("router_init_std", "queries must start at zero");
  }
  return errors;
}

std::vector<SettingError> CheckOptions(std::string_view method,
                                       const GivenSettings& options) {
  std::vector<SettingError> errors;
  for (const auto& [key, value] : options) {
    const SettingInfo* setting = FindSetting(key);
    if (key == "eps_mode") continue;
    if (setting != nullptr && !setting->methods.empty() &&
        BelongsTo(*setting, method)) {
      continue;
    }
    std::vector<std::string_view> own = {"eps_mode"};
    for (const SettingInfo* option : OptionsOf(method)) {
      own.push_back(option->key);
    }
    errors.push_back({key, key + " is no option of " + std::string(method) +
                               ", which has " + Listed(own)});
  }
  return errors;
}

}  // namespace

std::vector<std::string_view> ConversionTargets() {
  std::vector<std::string_view> names;
  for (const MethodInfo& method : MethodTable()) {
    if (method.conversion != Conversion::kNone) names.push_back(method.name);
  }
  return names;
}

Resolution ConvertSettings(const Settings& prenorm, std::string_view method,
                           const GivenSettings& options) {
  if (prenorm.method() != "prenorm") {
    return {{},
            {{"method",
              "it is of method " + prenorm.method() +
                  ", and only prenorm is computed alike by other methods"}}};
  }
  const MethodInfo* target = FindMethod(method);
  if (target == nullptr || target->conversion == Conversion::kNone) {
    const std::string name(method);
    return {
        {},
        {{"method", (target == nullptr ? "there is no method " + name
                                       : name + " would not keep the logits") +
                        "; those that do are " + Listed(ConversionTargets())}}};
  }
  Resolution result;
  result.errors = CheckOptions(method, options);
  if (!result.errors.empty()) return result;
  GivenSettings given = prenorm.values();
  given["method"] = std::string(method);
  given["eps_mode"] = std::string("compensated");
  for (const auto& [key, value] : options) given[key] = value;
  result = Resolve(given);
  if (result.errors.empty()) result.errors = ChangesOfLogits(result.settings);
  return result;
}

std::vector<AddedParameter> AddedParameters(const Settings& converted) {
  const Conversion kind = FindMethod(converted.method())->conversion;
  const int64_t sublayers = 2 * converted.depth();
  const int64_t width = converted.Integer("d_model");
  const int64_t routers =
      kind == Conversion::kReplacing ? sublayers + 1 : sublayers;
  std::vector<AddedParameter> added = {
      {"router.w", {routers, width}, 0},
      {"router.g", {routers, width}, 1},
  };
  if (Is(converted, "gate", "scalar")) {
    added.push_back({"delta.gate", {sublayers}, 0});
  }
  if (Is(converted, "null_source", "logit")) {
    added.push_back({"router.null_logit", {sublayers}, 0});
  }
  if (Is(converted, "null_source", "vector")) {
    added.push_back({"router.null", {sublayers, width}, 0});
  }
  return added;
}

}  // namespace leadline::spec
