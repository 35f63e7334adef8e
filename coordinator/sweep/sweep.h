// A sweep as it was submitted, as a plain value: axes, rules and what is fixed.

#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/experiment.h"
#include "model/spec/dataset_table.h"
#include "model/spec/settings.h"
#include "model/spec/start_point.h"

namespace leadline::sweep {

/// A place in the sweep file, from 1; columns count code points. Line 0: no
/// place.
struct Position {
  int64_t line = 0;
  int64_t column = 0;
  auto operator<=>(const Position&) const = default;
};

/// Something wrong with a sweep, and where.
struct Problem {
  Position at;
  std::string message;
  auto operator<=>(const Problem&) const = default;
};

/// An option of a method, where it was given.
struct Option {
  std::string key;
  spec::Value value;
  Position at;
};

/// A method and those of its options that were given.
struct Method {
  std::string name;
  std::vector<Option> options;
};

/// A value of an axis, of a rule, or of a fixed setting. `monostate`: it could
/// not be read, and its problem is known already.
struct Choice {
  std::variant<std::monostate, spec::Value, Method, spec::Dataset> value;
  Position at;

  bool unreadable() const {
    return std::holds_alternative<std::monostate>(value);
  }
};

/// A key with its values: an axis; a fixed setting, which has one value; or
/// what a rule matches, any of them. The key is one of the settings table, or
/// "dataset".
struct Axis {
  std::string key;
  std::vector<Choice> values;
  Position at;
};

/// Cells that match all of the keys.
struct Rule {
  std::vector<Axis> match;
  Position at;
};

/// What a `when` sets in the cells it matches.
struct When {
  Rule rule;
  std::vector<Option> set;
};

/// A group of axes that advance together.
struct Zip {
  std::vector<std::string> keys;
  Position at;
};

/// The seeds of every cell: 0..count-1, or a list.
struct Seeds {
  int64_t count = 0;
  std::vector<int64_t> listed;  // empty, or `count` of them
  Position at;

  int64_t At(int64_t index) const {
    return listed.empty() ? index : listed[static_cast<size_t>(index)];
  }
};

struct Limits {
  std::optional<int64_t> parallel;  // attempts at once
  std::optional<int64_t> failures;  // failed trials that end the sweep
  /// Trials that fail one after the other without one that ends with a result.
  std::optional<int64_t> failures_in_row;
  OnFailures on_failures = OnFailures::kStop;
};

/// A checkpoint that cells start from.
struct Checkpoint {
  std::string path;  // absolute, of its folder; no part of what a cell is
  spec::StartPoint start;
};

/// By the hash of the manifest, which is the value of `init_from`.
using Checkpoints = std::map<std::string, Checkpoint, std::less<>>;

struct Sweep {
  std::string name;
  std::string description;
  Seeds seeds;
  std::vector<Axis> fixed;  // one value each
  std::vector<Axis> axes;   // in the order of the listing
  std::vector<Zip> zips;
  std::vector<Rule> exclude;
  std::vector<When> when;  // in order, later ones win
  Limits limits;
  int64_t priority = 0;
  Checkpoints checkpoints;
};

/// The canonical text: JSON with keys sorted, numbers with their type, data by
/// content. Sweeps that mean the same have the same; name and description do
/// not take part.
std::string CanonicalText(const Sweep& sweep);

/// SHA-256 of the canonical text, hexadecimal.
std::string CanonicalHash(const Sweep& sweep);

}  // namespace leadline::sweep
