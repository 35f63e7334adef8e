#include "coordinator/sweep/labels.h"

#include <algorithm>
#include <optional>
#include <set>

#include "common/sha256.h"

namespace leadline::sweep {
namespace {

const Axis* FindEverywhere(const Sweep& sweep, std::string_view key) {
  for (const auto* axes : {&sweep.axes, &sweep.fixed}) {
    const auto found = std::ranges::find(*axes, key, &Axis::key);
    if (found != axes->end()) return &*found;
  }
  return nullptr;
}

std::optional<spec::Value> OptionOf(const Method& method,
                                    std::string_view key) {
  const auto found = std::ranges::find(method.options, key, &Option::key);
  if (found != method.options.end()) return found->value;
  const spec::SettingInfo* setting = spec::FindSetting(key);
  return setting ? spec::ConstantDefault(*setting) : std::nullopt;
}

/// Options in which the sweep's methods of that name differ, or along which an
/// axis runs, in the order of the table.
std::vector<std::string> ShownOptions(const Sweep& sweep,
                                      const std::string& name) {
  std::vector<std::string> shown;
  const Axis* methods = FindEverywhere(sweep, "method");
  for (const spec::SettingInfo& setting : spec::SettingsTable()) {
    if (setting.methods.empty() || !spec::BelongsTo(setting, name)) continue;
    std::set<std::optional<spec::Value>> values;
    for (const Choice& choice : methods->values) {
      const auto* method = std::get_if<Method>(&choice.value);
      if (method && method->name == name) {
        values.insert(OptionOf(*method, setting.key));
      }
    }
    const auto axis = std::ranges::find(sweep.axes, setting.key, &Axis::key);
    const bool runs = axis != sweep.axes.end() && axis->values.size() > 1;
    if (values.size() > 1 || runs) shown.emplace_back(setting.key);
  }
  return shown;
}

}  // namespace

std::string LabelText(const spec::Value& value) {
  std::string text = spec::ToText(value);
  constexpr size_t kDigitsShown = 12;  // of a hash
  if (IsSha256(text)) text.resize(kDigitsShown);
  if (!std::holds_alternative<double>(value)) return text;
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  // "1e-04" to "1e-4"
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos && text[exponent + 2] == '0') {
    text.erase(exponent + 2, 1);
  }
  return text;
}

Labels::Labels(const Sweep& sweep) : sweep_(sweep) {
  const Axis* methods = FindEverywhere(sweep, "method");
  for (const Choice& choice : methods->values) {
    const auto& name = std::get<sweep::Method>(choice.value).name;
    options_.try_emplace(name, ShownOptions(sweep, name));
  }
}

std::string Labels::Method(const GivenCell& cell,
                           const spec::Settings& settings) const {
  std::string options;
  for (const std::string& key : options_.find(settings.method())->second) {
    const auto given = cell.settings.find(key);
    const auto resolved = settings.values().find(key);
    if (given == cell.settings.end() && resolved == settings.values().end()) {
      continue;
    }
    options += options.empty() ? "" : ",";
    options += key + "=" +
               LabelText(given == cell.settings.end() ? resolved->second
                                                      : given->second);
  }
  return settings.method() + (options.empty() ? "" : "(" + options + ")");
}

std::string Labels::Dataset(const GivenCell& cell) const {
  const Axis* datasets = FindEverywhere(sweep_, "dataset");
  int64_t number = 0;
  int64_t same = 0;
  for (const Choice& choice : datasets->values) {
    const auto& dataset = std::get<spec::Dataset>(choice.value);
    if (dataset.name != cell.dataset->name) continue;
    ++same;
    if (&dataset == cell.dataset) number = same;
  }
  return same > 1 ? cell.dataset->name + "#" + std::to_string(number)
                  : cell.dataset->name;
}

std::vector<std::pair<std::string, std::string>> Labels::Axes(
    const GivenCell& cell, const spec::Settings& settings) const {
  std::vector<std::pair<std::string, std::string>> labels;
  for (size_t i = 0; i < sweep_.axes.size(); ++i) {
    const Axis& axis = sweep_.axes[i];
    if (axis.key == "method") {
      labels.emplace_back(axis.key, Method(cell, settings));
    } else if (axis.key == "dataset") {
      labels.emplace_back(axis.key, Dataset(cell));
    } else if (spec::BelongsTo(*spec::FindSetting(axis.key),
                               settings.method())) {
      // A `when` may have set it to something else.
      const auto given = cell.settings.find(axis.key);
      const auto& chosen = axis.values[cell.choice[i]].value;
      labels.emplace_back(
          axis.key,
          LabelText(given == cell.settings.end() ? std::get<spec::Value>(chosen)
                                                 : given->second));
    }
  }
  return labels;
}

}  // namespace leadline::sweep
