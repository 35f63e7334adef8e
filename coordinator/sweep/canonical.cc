#include <algorithm>
#include <map>

#include "common/sha256.h"
#include "coordinator/sweep/sweep.h"
#include "model/spec/json_text.h"

namespace leadline::sweep {
namespace {

using spec::JsonText;

/// A JSON object; its members come out sorted.
using Members = std::map<std::string, std::string>;

std::string Object(const Members& members) {
  std::string json = "{";
  for (const auto& [key, value] : members) {
    if (json.size() > 1) json += ',';
    json += JsonText(key) + ':' + value;
  }
  return json + '}';
}

template <typename Items, typename Write>
std::string Array(const Items& items, Write write) {
  std::string json = "[";
  for (const auto& item : items) {
    if (json.size() > 1) json += ',';
    json += write(item);
  }
  return json + ']';
}

std::string Json(const std::vector<Option>& options) {
  Members members;
  for (const Option& option : options) {
    members[option.key] = spec::JsonValue(option.value);
  }
  return Object(members);
}

std::string Json(const spec::Dataset& dataset) {
  Members members;
  if (dataset.content_hash.empty()) {
    members["name"] = JsonText(dataset.name);
  } else {
    members["content_hash"] = JsonText(dataset.content_hash);
  }
  members["tokenizer"] = JsonText(dataset.tokenizer);
  members["split"] =
      Array(dataset.split, [](double part) { return spec::ToText(part); });
  return Object(members);
}

std::string Json(const Choice& choice) {
  if (const auto* value = std::get_if<spec::Value>(&choice.value)) {
    return spec::JsonValue(*value);
  }
  if (const auto* method = std::get_if<Method>(&choice.value)) {
    return Object(
        {{"name", JsonText(method->name)}, {"options", Json(method->options)}});
  }
  const auto* dataset = std::get_if<spec::Dataset>(&choice.value);
  return dataset ? Json(*dataset) : "null";
}

std::string Json(const std::vector<Choice>& values) {
  return Array(values, [](const Choice& choice) { return Json(choice); });
}

/// Keys of a map have no order.
std::string Unordered(const std::vector<Axis>& axes) {
  Members members;
  for (const Axis& axis : axes) members[axis.key] = Json(axis.values);
  return Object(members);
}

/// Axes have one.
std::string Ordered(const std::vector<Axis>& axes) {
  return Array(axes, [](const Axis& axis) {
    return "[" + JsonText(axis.key) + "," + Json(axis.values) + "]";
  });
}

std::string Json(const std::vector<When>& rules) {
  return Array(rules, [](const When& when) {
    return Object(
        {{"match", Unordered(when.rule.match)}, {"set", Json(when.set)}});
  });
}

std::string Json(const Seeds& seeds) {
  bool counted = true;
  for (size_t i = 0; i < seeds.listed.size(); ++i) {
    counted = counted && seeds.listed[i] == static_cast<int64_t>(i);
  }
  if (counted) return std::to_string(seeds.count);
  return Array(seeds.listed, [](int64_t seed) { return std::to_string(seed); });
}

/// Neither the groups nor the axes in a group have an order.
std::string Json(const std::vector<Zip>& zips) {
  std::vector<std::vector<std::string>> groups;
  for (const Zip& zip : zips) {
    groups.push_back(zip.keys);
    std::ranges::sort(groups.back());
  }
  std::ranges::sort(groups);
  return Array(groups, [](const std::vector<std::string>& keys) {
    return Array(keys, JsonText);
  });
}

std::string Json(const Limits& limits) {
  Members members;
  if (limits.parallel) members["parallel"] = std::to_string(*limits.parallel);
  if (limits.failures) members["failures"] = std::to_string(*limits.failures);
  if (limits.failures_in_row) {
    members["failures_in_row"] = std::to_string(*limits.failures_in_row);
  }
  // Left out where it is the default, as before there was a choice.
  if (limits.on_failures != OnFailures::kStop) {
    members["on_failures"] = JsonText(std::string(Name(limits.on_failures)));
  }
  return Object(members);
}

}  // namespace

std::string CanonicalText(const Sweep& sweep) {
  return Object({
      {"axes", Ordered(sweep.axes)},
      {"exclude",
       Array(sweep.exclude,
             [](const Rule& rule) { return Unordered(rule.match); })},
      {"leadline", "1"},
      {"limits", Json(sweep.limits)},
      {"priority", std::to_string(sweep.priority)},
      {"seeds", Json(sweep.seeds)},
      {"settings", Unordered(sweep.fixed)},
      {"when", Json(sweep.when)},
      {"zip", Json(sweep.zips)},
  });
}

std::string CanonicalHash(const Sweep& sweep) {
  return Sha256Of(CanonicalText(sweep));
}

}  // namespace leadline::sweep
