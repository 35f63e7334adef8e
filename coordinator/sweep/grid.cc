#include "coordinator/sweep/grid.h"

#include <algorithm>

namespace leadline::sweep {
namespace {

constexpr int64_t kMostPoints = 1'000'000'000'000'000;

/// The option's value in cells of that choice, where it is known here.
std::optional<spec::Value> OptionValue(const Method& method,
                                       std::string_view key) {
  for (const Option& option : method.options) {
    if (option.key == key) return option.value;
  }
  const spec::SettingInfo* setting = spec::FindSetting(key);
  return setting ? spec::ConstantDefault(*setting) : std::nullopt;
}

bool MatchesMethod(const Method& pattern, const Method& value) {
  return pattern.name == value.name &&
         std::ranges::all_of(pattern.options, [&](const Option& option) {
           return OptionValue(value, option.key) == option.value;
         });
}

bool IsSameData(const spec::Dataset& a, const spec::Dataset& b) {
  return a.content_hash == b.content_hash && a.tokenizer == b.tokenizer &&
         a.split == b.split && (!a.content_hash.empty() || a.name == b.name);
}

bool MatchesAny(const Axis& pattern, const Choice& value) {
  return std::ranges::any_of(pattern.values, [&](const Choice& member) {
    return Matches(member, value);
  });
}

/// Cuts a box down to the indices of one dimension whose value on `axis`
/// matches.
void Restrict(Box& box, size_t dimension, const Axis& axis,
              const Axis& pattern) {
  std::vector<bool>& belongs = box.belongs[dimension];
  if (belongs.empty()) belongs.assign(axis.values.size(), true);
  for (size_t i = 0; i < axis.values.size(); ++i) {
    if (!MatchesAny(pattern, axis.values[i])) belongs[i] = false;
  }
}

}  // namespace

bool Matches(const Choice& pattern, const Choice& value) {
  if (const auto* wanted = std::get_if<Method>(&pattern.value)) {
    const auto* method = std::get_if<Method>(&value.value);
    return method && MatchesMethod(*wanted, *method);
  }
  if (const auto* wanted = std::get_if<spec::Dataset>(&pattern.value)) {
    const auto* dataset = std::get_if<spec::Dataset>(&value.value);
    return dataset && IsSameData(*wanted, *dataset);
  }
  const auto* wanted = std::get_if<spec::Value>(&pattern.value);
  const auto* given = std::get_if<spec::Value>(&value.value);
  return wanted && given && *wanted == *given;
}

std::vector<Dimension> Dimensions(const Sweep& sweep) {
  std::vector<Dimension> dimensions;
  std::vector<const Zip*> zip_of;  // of each dimension
  for (size_t axis = 0; axis < sweep.axes.size(); ++axis) {
    const std::string& key = sweep.axes[axis].key;
    const auto zip = std::ranges::find_if(sweep.zips, [&](const Zip& group) {
      return std::ranges::find(group.keys, key) != group.keys.end();
    });
    const Zip* group = zip == sweep.zips.end() ? nullptr : &*zip;
    const auto same = std::ranges::find(zip_of, group);
    if (group && same != zip_of.end()) {
      dimensions[static_cast<size_t>(same - zip_of.begin())].axes.push_back(
          axis);
      continue;
    }
    dimensions.push_back(
        {{axis}, static_cast<int64_t>(sweep.axes[axis].values.size())});
    zip_of.push_back(group);
  }
  return dimensions;
}

std::optional<int64_t> CountPoints(const std::vector<Dimension>& dimensions) {
  int64_t points = 1;
  for (const Dimension& dimension : dimensions) {
    if (dimension.size == 0) return 0;
    if (points > kMostPoints / dimension.size) return {};
    points *= dimension.size;
  }
  return points;
}

Box BoxOf(const Sweep& sweep, const std::vector<Dimension>& dimensions,
          const Rule& rule) {
  Box box;
  box.belongs.resize(dimensions.size());
  for (const Axis& pattern : rule.match) {
    for (size_t d = 0; d < dimensions.size(); ++d) {
      for (const size_t axis : dimensions[d].axes) {
        if (sweep.axes[axis].key == pattern.key) {
          Restrict(box, d, sweep.axes[axis], pattern);
        }
      }
    }
    for (const Axis& fixed : sweep.fixed) {
      if (fixed.key == pattern.key && !MatchesAny(pattern, fixed.values[0])) {
        box.is_empty = true;
      }
    }
  }
  return box;
}

int64_t CountPoints(const std::vector<Dimension>& dimensions, const Box& box) {
  if (box.is_empty) return 0;
  int64_t points = 1;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const std::vector<bool>& belongs = box.belongs[d];
    points *= belongs.empty() ? dimensions[d].size
                              : std::ranges::count(belongs, true);
  }
  return points;
}

}  // namespace leadline::sweep
