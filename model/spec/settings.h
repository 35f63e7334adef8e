// THE table of settings: every key that a sweep file, a trainer configuration
// or the documentation may name, with its type, range, default and meaning.
// Readers, hashing, `leadline settings` and the docs all come from it.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace leadline::spec {

/// A setting's value: an integer, a number, or a word ("on", "auto", "bf16").
using Value = std::variant<int64_t, double, std::string>;

/// A hash is 64 hexadecimal digits, a path an absolute one; both are words.
enum class ValueKind { kInteger, kNumber, kWord, kHash, kPath };

/// Where a key belongs, for listings.
enum class SettingGroup { kModel, kMethod, kTraining, kEvaluation, kRunning };

struct SettingInfo {
  std::string_view key = {};
  SettingGroup group = SettingGroup::kModel;
  ValueKind kind = ValueKind::kInteger;
  double least = 0;  // both ends belong to the range of a number
  double most = 0;   // unless said below
  bool least_excluded = false;
  bool most_excluded = false;
  /// All choices of a word; the words accepted beside numbers otherwise.
  std::vector<std::string_view> words = {};
  /// What `leadline settings` shows: "12", "4 * d_model", "lr / 10". The
  /// default itself where it reads as a value.
  std::string_view default_text = {};
  /// The version of the settings table that introduced the key.
  int since = 1;
  /// A setting introduced after version 1 is left out of an identity while it
  /// has this value.
  std::optional<Value> neutral = {};
  /// Part of a cell's identity.
  bool identity = true;
  /// The methods whose option it is; empty: a setting of every method.
  std::vector<std::string_view> methods = {};
  std::string_view meaning = {};
};

/// In the order of listings. Lives for the whole program.
std::span<const SettingInfo> SettingsTable();

/// Null unless the table has the key.
const SettingInfo* FindSetting(std::string_view key);

/// Grows by one where a release brings new keys: the newest `since`.
int SettingsVersion();

/// True if the setting applies to cells of that method.
bool BelongsTo(const SettingInfo& setting, std::string_view method);

/// Reads a plain scalar as a value of that setting, typed and in range. The
/// second form of the result says what was expected: "an integer from 1 to
/// 256".
std::variant<Value, std::string> ParseValue(const SettingInfo& setting,
                                            std::string_view text);

/// What ParseValue expects, for messages and listings.
std::string ExpectedText(const SettingInfo& setting);

/// Null if a value of that type stands in the setting's range; else what was
/// expected. For values that come from elsewhere than a text.
std::optional<std::string> WhyNot(const SettingInfo& setting,
                                  const Value& value);

/// The default, where it does not depend on other settings.
std::optional<Value> ConstantDefault(const SettingInfo& setting);

/// "model", "method", "training", ...
std::string_view Name(SettingGroup group);

/// Shortest decimal that reads back the same, with its type: 4.0 is "4.0", not
/// "4"; words are themselves.
std::string ToText(const Value& value);

/// What a user gave for one cell, "depth", "method" and options among it.
using GivenSettings = std::map<std::string, Value, std::less<>>;

/// Every setting of one cell, defaults filled in: those of all methods and the
/// options of its own method; `blocks` has become `block_sublayers`.
class Settings {
 public:
  Settings() = default;
  explicit Settings(GivenSettings values) : values_(std::move(values)) {}

  /// The key must be there with that type: asking for another is our own
  /// mistake, and throws std::logic_error that names it.
  int64_t Integer(std::string_view key) const;
  double Number(std::string_view key) const;
  const std::string& Word(std::string_view key) const;

  bool Has(std::string_view key) const { return values_.contains(key); }
  /// True for the word "on".
  bool IsOn(std::string_view key) const;
  /// Null where the value is a word ("auto", "off").
  std::optional<double> NumberUnlessWord(std::string_view key) const;

  int64_t depth() const { return Integer("depth"); }
  const std::string& method() const { return Word("method"); }
  const GivenSettings& values() const { return values_; }

  bool operator==(const Settings&) const = default;

 private:
  GivenSettings values_;
};

/// A setting that cannot stand: which key, and what is wrong with it.
struct SettingError {
  std::string key;
  std::string message;
};

struct Resolution {
  Settings settings;                 // meaningful only without errors
  std::vector<SettingError> errors;  // all of them
};

/// Fills in every default, dependent ones included, and checks types, ranges
/// and what belongs together (heads divide the width, S <= 2L, ...). Options of
/// other methods are dropped; keys the table does not have are errors. What it
/// returned resolves to itself.
Resolution Resolve(const GivenSettings& given);

}  // namespace leadline::spec
