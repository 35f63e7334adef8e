// The ids of everything the service names. They are made by the coordinator
// alone, and their text is safe in file names.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace leadline {

/// A sweep, "s12"; counts from 1.
struct SweepId {
  int64_t value = 0;
  auto operator<=>(const SweepId&) const = default;
};

/// A cell of a sweep, "s12.3"; counts from 1.
struct CellId {
  SweepId sweep;
  int64_t number = 0;
  auto operator<=>(const CellId&) const = default;
};

/// A seed of a cell, "s12.3.1"; the seed's index counts from 0.
struct TrialId {
  CellId cell;
  int64_t seed_index = 0;
  auto operator<=>(const TrialId&) const = default;
};

/// The trials of a cell that train together, "s12.3.c0"; counts from 0.
struct CohortId {
  CellId cell;
  int64_t number = 0;
  auto operator<=>(const CohortId&) const = default;
};

/// One execution of a cohort, "s12.3.c0@2"; attempts count from 1. The fencing
/// token of all that execution says.
struct AttemptKey {
  CohortId cohort;
  int64_t number = 0;
  auto operator<=>(const AttemptKey&) const = default;
};

std::string ToText(const SweepId& id);
std::string ToText(const CellId& id);
std::string ToText(const TrialId& id);
std::string ToText(const CohortId& id);
std::string ToText(const AttemptKey& key);

/// Each is null unless the whole text is an id of that kind in the form ToText
/// writes: no signs, no leading zeros, no blanks.
std::optional<SweepId> ParseSweepId(std::string_view text);
std::optional<CellId> ParseCellId(std::string_view text);
std::optional<TrialId> ParseTrialId(std::string_view text);
std::optional<CohortId> ParseCohortId(std::string_view text);
std::optional<AttemptKey> ParseAttemptKey(std::string_view text);

}  // namespace leadline
