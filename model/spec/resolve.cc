#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "model/spec/checks.h"
#include "model/spec/method_table.h"
#include "model/spec/settings.h"

namespace leadline::spec {
namespace {

/// A computed default, rounded to 12 significant digits: the same decimal on
/// every platform, and the one a user would write.
double Rounded(double number) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                 number, std::chars_format::scientific, 11);
  double rounded = number;
  std::from_chars(buffer.data(), end.ptr, rounded);
  return rounded;
}

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

const std::vector<std::pair<std::string, Value>>& ConstantDefaults() {
  static const auto constants = [] {
    std::vector<std::pair<std::string, Value>> defaults;
    for (const SettingInfo& setting : SettingsTable()) {
      if (auto value = ConstantDefault(setting)) {
        defaults.emplace_back(setting.key, *std::move(value));
      }
    }
    return defaults;
  }();
  return constants;
}

/// Fills one cell's settings, a key after another in the order of dependence.
class Filling {
 public:
  explicit Filling(GivenSettings given) : values_(std::move(given)) {}

  void Run() {
    // Its own scaling takes the place of the other one.
    if (std::get<std::string>(values_.at("method")) == "deepnorm") {
      Fill("residual_init", "plain");
    }
    FillConstants();
    Fill("n_heads", std::max<int64_t>(1, Integer("d_model") / 64));
    Fill("n_kv_heads", Integer("n_heads"));
    Fill("d_ff", 4 * Integer("d_model"));
    Fill("eval_stride", Integer("context"));
    const double doublings = std::log2(double(Integer("depth")) / 12);
    Fill("lr", Rounded(std::clamp(1e-3 - 2e-4 * doublings, 4e-4, 1e-3)));
    Fill("lr_min", Rounded(std::get<double>(values_.at("lr")) / 10));
    FillBlocks();
  }

  GivenSettings Take() { return std::move(values_); }

 private:
  int64_t Integer(const std::string& key) const {
    return std::get<int64_t>(values_.at(key));
  }

  bool Applies(std::string_view key) const {
    return BelongsTo(*FindSetting(key),
                     std::get<std::string>(values_.at("method")));
  }

  void Fill(const std::string& key, const Value& value) {
    if (Applies(key)) values_.try_emplace(key, value);
  }

  void FillConstants() {
    for (const auto& [key, value] : ConstantDefaults()) Fill(key, value);
  }

  void FillBlocks() {
    if (!Applies("blocks")) return;
    if (Applies("base") && values_.at("base") == Value("full")) {
      values_.erase("blocks");
      values_.erase("block_sublayers");
      return;
    }
    const int64_t depth = Integer("depth");
    int64_t blocks = std::max<int64_t>(1, std::min<int64_t>(6, depth / 2));
    if (const auto given = values_.find("blocks"); given != values_.end()) {
      blocks = std::get<int64_t>(given->second);
      values_.erase(given);
    }
    Fill("block_sublayers", 2 * CeilDiv(depth, blocks));
  }

  GivenSettings values_;
};

/// Drops options of other methods and judges each value by itself.
std::vector<SettingError> CheckEach(GivenSettings& given,
                                    std::string_view method) {
  std::vector<SettingError> errors;
  for (auto it = given.begin(); it != given.end();) {
    const SettingInfo* setting = FindSetting(it->first);
    if (setting && !BelongsTo(*setting, method)) {
      it = given.erase(it);
      continue;
    }
    if (!setting) {
      errors.push_back({it->first, "is not a setting"});
    } else if (const auto expected = WhyNot(*setting, it->second)) {
      errors.push_back(
          {it->first, "is " + ToText(it->second) + ", expected " + *expected});
    }
    ++it;
  }
  return errors;
}

}  // namespace

std::optional<Value> ConstantDefault(const SettingInfo& setting) {
  auto value = ParseValue(setting, setting.default_text);
  if (auto* constant = std::get_if<Value>(&value)) return std::move(*constant);
  return {};
}

Resolution Resolve(const GivenSettings& given) {
  const auto method = given.find("method");
  const std::string* name = method == given.end()
                                ? nullptr
                                : std::get_if<std::string>(&method->second);
  if (!name) return {{}, {{"method", "is missing"}}};
  if (!FindMethod(*name)) {
    return {{}, {{"method", "there is no method " + *name}}};
  }
  GivenSettings mine = given;
  Resolution result;
  result.errors = CheckEach(mine, *name);
  if (mine.contains("blocks") && mine.contains("block_sublayers")) {
    result.errors.push_back(
        {"block_sublayers", "blocks and block_sublayers are both given"});
  }
  if (!result.errors.empty()) return result;
  Filling filling(std::move(mine));
  filling.Run();
  result.settings = Settings(filling.Take());
  result.errors = CheckTogether(result.settings);
  return result;
}

}  // namespace leadline::spec
