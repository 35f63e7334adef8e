#include "tests/exact/variants.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <ostream>

#include "tests/exact/world.h"

namespace leadline::exact {
namespace {

using spec::GivenSettings;
using spec::SettingInfo;
using spec::Value;
using spec::ValueKind;

/// Letters, digits and underscores: "-1.5" becomes "m1p5".
std::string NamePart(const std::string& text) {
  std::string part;
  for (const char c : text) {
    if (c == '-') {
      part += 'm';
    } else if (c == '.') {
      part += 'p';
    } else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      part += c;
    }
  }
  return part;
}

Variant With(const Variant& base, const std::string& key, const Value& value) {
  Variant variant = base;
  variant.options[key] = value;
  variant.name += "_" + key + "_" + NamePart(spec::ToText(value));
  return variant;
}

/// Values of a setting that are not its default.
std::vector<Value> OtherValues(const SettingInfo& setting) {
  const std::optional<Value> usual = spec::ConstantDefault(setting);
  std::vector<Value> values;
  for (const std::string_view word : setting.words) {
    values.emplace_back(std::string(word));
  }
  if (setting.kind == ValueKind::kInteger) {
    for (const double i : {0.0, 1.0, 2.0}) {
      values.emplace_back(
          static_cast<int64_t>(std::min(setting.least + i, setting.most)));
    }
  } else if (setting.kind == ValueKind::kNumber && usual &&
             std::holds_alternative<double>(*usual)) {
    values.emplace_back(
        std::clamp(std::get<double>(*usual) + 0.5, setting.least,
                   setting.most_excluded ? setting.most / 2 : setting.most));
  }
  std::erase_if(values, [&](const Value& value) { return usual == value; });
  return values;
}

/// Whether it is how a model is measured or made, not what it computes.
bool IsLength(std::string_view key) {
  return key == "blocks" || key == "block_sublayers";
}

/// Words that all methods have, each changed as far as it goes together.
Variant WithEveryWord(const Variant& base, int64_t depth) {
  Variant variant = base;
  for (const SettingInfo& setting : spec::SettingsTable()) {
    if (setting.group != spec::SettingGroup::kModel || setting.words.empty() ||
        !setting.methods.empty() || setting.key == "method") {
      continue;
    }
    const std::vector<Value> values = OtherValues(setting);
    if (values.empty()) continue;
    Variant next = variant;
    next.options[std::string(setting.key)] = values.back();
    if (Resolves(next, depth)) variant = next;
  }
  variant.options["n_kv_heads"] = int64_t{1};
  variant.name += "_all_words";
  return variant;
}

/// True for a method that has blocks only if its option `base` says so.
bool ChoosesBlocks(std::string_view method) {
  const SettingInfo* const base = spec::FindSetting("base");
  return base != nullptr && spec::BelongsTo(*base, method);
}

/// Options under which a method that equals prenorm at its start no longer
/// does: what they are for.
bool EndsEquality(const std::string& key, const Value& value) {
  if (key == "router_init_std" || key == "window") return true;
  return key == "sources" && value == Value(std::string("states"));
}

}  // namespace

Variant Variant::WithBlocks(int64_t block_sublayers) const {
  if (block_sublayers == 0) return *this;
  Variant variant = *this;
  variant.options["block_sublayers"] = block_sublayers;
  if (ChoosesBlocks(method)) variant.options["base"] = std::string("block");
  variant.name += "_S" + std::to_string(block_sublayers);
  return variant;
}

bool Resolves(const Variant& variant, int64_t depth,
              const GivenSettings& extra) {
  GivenSettings given = SmallSettings(variant.method, depth, variant.options);
  for (const auto& [key, value] : extra) given[key] = value;
  return spec::Resolve(given).errors.empty();
}

spec::Settings SettingsOf(const Variant& variant, int64_t depth,
                          const GivenSettings& extra) {
  GivenSettings options = variant.options;
  for (const auto& [key, value] : extra) options[key] = value;
  return Small(variant.method, depth, options);
}

std::vector<Variant> PlainVariants() {
  std::vector<Variant> variants;
  for (const std::string& method : AllMethods()) {
    variants.push_back({method, method, {}});
  }
  return variants;
}

std::vector<Variant> Variants(int64_t depth) {
  std::vector<Variant> all;
  for (const Variant& plain : PlainVariants()) {
    all.push_back(plain);
    for (const SettingInfo* option : spec::OptionsOf(plain.method)) {
      if (IsLength(option->key)) continue;
      for (const Value& value : OtherValues(*option)) {
        all.push_back(With(plain, std::string(option->key), value));
      }
    }
    all.push_back(WithEveryWord(plain, depth));
  }
  std::erase_if(all, [&](const Variant& v) { return !Resolves(v, depth); });
  return all;
}

std::vector<int64_t> BlockLengths(const Variant& variant, int64_t depth) {
  if (!spec::BelongsTo(*spec::FindSetting("block_sublayers"), variant.method)) {
    return {0};
  }
  std::vector<int64_t> lengths;
  if (ChoosesBlocks(variant.method)) lengths.push_back(0);
  bool least = false;
  bool divides = false;
  bool leaves_rest = false;
  for (int64_t s = 1; s <= 2 * depth; ++s) {
    if (!Resolves(variant.WithBlocks(s), depth)) continue;
    bool& had = !least ? least : 2 * depth % s == 0 ? divides : leaves_rest;
    if (!had) lengths.push_back(s);
    had = true;
  }
  return lengths;
}

std::string NameOf(const Case& c) {
  return c.variant.name + "_L" + std::to_string(c.depth) + "_R" +
         std::to_string(c.replicas);
}

void PrintTo(const Case& c, std::ostream* out) { *out << NameOf(c); }

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const int64_t depth : {2, 5, 12}) {
    for (const Variant& plain : PlainVariants()) {
      for (const int64_t s : BlockLengths(plain, depth)) {
        cases.push_back({plain.WithBlocks(s), depth, 1});
        cases.push_back({plain.WithBlocks(s), depth, 3});
      }
    }
  }
  constexpr int64_t kDepth = 5;
  for (const Variant& variant : Variants(kDepth)) {
    if (!variant.options.empty()) cases.push_back({variant, kDepth, 3});
  }
  return cases;
}

std::vector<Case> FusedCases() {
  std::vector<Case> cases = Cases();
  std::erase_if(cases, [](const Case& c) { return c.replicas == 1; });
  return cases;
}

bool ChangesTheStart(const Variant& variant) {
  return std::ranges::any_of(variant.options, [](const auto& option) {
    return EndsEquality(option.first, option.second);
  });
}

bool EqualsPreNormAtStart(const Variant& variant) {
  return spec::FindMethod(variant.method)
             ->equals_prenorm_at_start.starts_with("yes") &&
         !ChangesTheStart(variant);
}

}  // namespace leadline::exact
