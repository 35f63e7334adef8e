#include "coordinator/sweep/check_sweep.h"

#include <algorithm>
#include <map>
#include <set>

#include "coordinator/sweep/grid.h"
#include "coordinator/sweep/kept_points.h"
#include "model/spec/method_table.h"

namespace leadline::sweep {
namespace {

/// Two names of one thing count as one.
std::string_view Meaning(std::string_view key) {
  return key == "blocks" ? "block_sublayers" : key;
}

const Axis* Find(const std::vector<Axis>& axes, std::string_view key) {
  const auto found = std::ranges::find(axes, key, &Axis::key);
  return found == axes.end() ? nullptr : &*found;
}

class Checking {
 public:
  explicit Checking(const Sweep& sweep) : sweep_(sweep) {}

  std::vector<Problem> Run() {
    Needed("method");
    Needed("dataset");
    if (sweep_.seeds.count <= 0) Add(sweep_.seeds.at, "seeds: there are none");
    for (const Axis& axis : sweep_.axes) CheckAxis(axis);
    for (const Axis& fixed : sweep_.fixed) CheckBelongs(fixed.key, fixed.at);
    CheckGiven(sweep_.fixed, "settings");
    CheckGiven(sweep_.axes, "axes");
    CheckMethods();
    for (const Zip& zip : sweep_.zips) CheckZip(zip);
    for (const Rule& rule : sweep_.exclude) CheckRule(rule, "exclude");
    for (const When& when : sweep_.when) CheckWhen(when);
    if (sweep_.exclude.size() > KeptPoints::kMostBoxes) {
      Add(sweep_.exclude[KeptPoints::kMostBoxes].at,
          "exclude: expected at most " +
              std::to_string(KeptPoints::kMostBoxes) + " rules");
    }
    std::ranges::sort(problems_);
    return std::move(problems_);
  }

 private:
  void Add(Position at, std::string message) {
    problems_.push_back({at, std::move(message)});
  }

  void Needed(const std::string& key) {
    if (Find(sweep_.axes, key) || Find(sweep_.fixed, key)) return;
    Add({1, 1}, "no " + key + ": expected it among axes or settings");
  }

  /// The methods of the sweep; null if one could not be read.
  std::optional<std::vector<const Method*>> Methods() const {
    std::vector<const Method*> methods;
    for (const auto* axes : {&sweep_.axes, &sweep_.fixed}) {
      const Axis* axis = Find(*axes, "method");
      if (!axis) continue;
      for (const Choice& choice : axis->values) {
        const auto* method = std::get_if<Method>(&choice.value);
        if (!method) return {};
        methods.push_back(method);
      }
    }
    return methods;
  }

  void CheckAxis(const Axis& axis) {
    if (axis.values.empty()) {
      Add(axis.at, "the axis " + axis.key + " has no values");
    }
    CheckBelongs(axis.key, axis.at);
    if (Find(sweep_.fixed, axis.key)) {
      Add(axis.at, axis.key + " is an axis and among settings too");
    }
  }

  void CheckBelongs(const std::string& key, Position at) {
    const spec::SettingInfo* setting = spec::FindSetting(key);
    if (!setting) {
      if (key != "dataset") Add(at, "there is no setting " + key);
      return;
    }
    const auto methods = Methods();
    if (!methods || methods->empty()) return;
    for (const Method* method : *methods) {
      if (spec::BelongsTo(*setting, method->name)) return;
    }
    Add(at, key + " is an option of " + Listed(setting->methods) +
                ", and the sweep has no such method");
  }

  /// Keys of one place that mean the same.
  void CheckGiven(const std::vector<Axis>& axes, const std::string& place) {
    std::map<std::string_view, std::string> seen;
    for (const Axis& axis : axes) {
      const auto [first, is_new] =
          seen.try_emplace(Meaning(axis.key), axis.key);
      if (is_new) continue;
      Add(axis.at, first->second == axis.key
                       ? axis.key + " is given twice in " + place
                       : first->second + " and " + axis.key +
                             " are both given in " + place);
    }
  }

  void CheckMethods() {
    for (const auto* axes : {&sweep_.axes, &sweep_.fixed}) {
      const Axis* axis = Find(*axes, "method");
      if (!axis) continue;
      for (const Choice& choice : axis->values) {
        if (const auto* method = std::get_if<Method>(&choice.value)) {
          CheckMethod(*method, choice.at);
        }
      }
    }
  }

  void CheckMethod(const Method& method, Position at) {
    if (!spec::FindMethod(method.name)) {
      Add(at, "there is no method " + method.name);
      return;
    }
    CheckOptions(method.options);
    for (const Option& option : method.options) {
      const spec::SettingInfo* setting = spec::FindSetting(option.key);
      if (!setting) continue;
      if (setting->methods.empty() || !spec::BelongsTo(*setting, method.name)) {
        Add(option.at, WrongOption(*setting, method.name));
      }
      for (const Axis& axis : sweep_.axes) {
        if (Meaning(axis.key) == Meaning(option.key)) {
          Add(option.at,
              option.key + " is given here and by the axis " + axis.key);
        }
      }
    }
  }

  static std::string WrongOption(const spec::SettingInfo& setting,
                                 const std::string& method) {
    std::vector<std::string_view> own;
    for (const spec::SettingInfo* option : spec::OptionsOf(method)) {
      own.push_back(option->key);
    }
    return std::string(setting.key) + " is no option of " + method +
           (own.empty() ? ", which has none" : ", which has " + Listed(own));
  }

  void CheckOptions(const std::vector<Option>& options) {
    std::map<std::string_view, std::string> seen;
    for (const Option& option : options) {
      const auto [first, is_new] =
          seen.try_emplace(Meaning(option.key), option.key);
      if (!is_new) {
        Add(option.at,
            first->second == option.key
                ? option.key + " is given twice"
                : first->second + " and " + option.key + " are both given");
      }
    }
  }

  void CheckZip(const Zip& zip) {
    if (zip.keys.size() < 2) {
      Add(zip.at, "zip: expected a group of two or more axes");
    }
    std::optional<size_t> length;
    for (const std::string& key : zip.keys) {
      if (!zipped_.insert(key).second) {
        Add(zip.at, "zip: " + key + " stands in it twice");
      }
      const Axis* axis = Find(sweep_.axes, key);
      if (!axis) {
        Add(zip.at, "zip: " + key + " is no axis of the sweep");
      } else if (length && *length != axis->values.size()) {
        Add(zip.at, "zip: " + zip.keys[0] + " has " + std::to_string(*length) +
                        " values and " + key + " has " +
                        std::to_string(axis->values.size()) +
                        ", expected equal numbers");
      } else {
        length = axis->values.size();
      }
    }
  }

  void CheckRule(const Rule& rule, const std::string& place) {
    if (rule.match.empty()) {
      Add(rule.at, place + ": the rule names no axis");
    }
    for (const Axis& pattern : rule.match) {
      if (!Find(sweep_.axes, pattern.key) && !Find(sweep_.fixed, pattern.key)) {
        Add(pattern.at, place + ": " + pattern.key +
                            " is neither an axis nor among settings");
      }
      if (pattern.values.empty()) {
        Add(pattern.at, place + ": " + pattern.key + " has no values");
      }
    }
  }

  void CheckWhen(const When& when) {
    CheckRule(when.rule, "when");
    if (when.set.empty()) Add(when.rule.at, "when: it sets nothing");
    CheckOptions(when.set);
    for (const Option& option : when.set) {
      if (option.key == "method" || option.key == "dataset") {
        Add(option.at, "when: " + option.key + " cannot be set, only matched");
      } else {
        CheckSets(when.rule, option);
      }
    }
  }

  /// An option must belong to a method that the rule can match.
  void CheckSets(const Rule& rule, const Option& option) {
    const spec::SettingInfo* setting = spec::FindSetting(option.key);
    const auto methods = Methods();
    if (!setting) Add(option.at, "there is no setting " + option.key);
    if (!setting || !methods || methods->empty()) return;
    const Axis* pattern = Find(rule.match, "method");
    for (const Method* method : *methods) {
      const Choice choice{.value = *method, .at = {}};
      const bool matched =
          !pattern ||
          std::ranges::any_of(pattern->values, [&](const Choice& member) {
            return member.unreadable() || Matches(member, choice);
          });
      if (matched && spec::BelongsTo(*setting, method->name)) return;
    }
    Add(option.at, "when: " + option.key + " is an option of " +
                       Listed(setting->methods) +
                       ", and the rule matches no such method");
  }

  const Sweep& sweep_;
  std::set<std::string> zipped_;
  std::vector<Problem> problems_;
};

}  // namespace

std::string Listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::vector<Problem> CheckSweep(const Sweep& sweep) {
  return Checking(sweep).Run();
}

}  // namespace leadline::sweep
