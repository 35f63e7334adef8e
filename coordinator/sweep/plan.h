// What a sweep will run: its cells, resolved, in the order of the listing.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/sweep/sweep.h"
#include "model/spec/dataset_table.h"

namespace leadline::sweep {

/// Above this number of trials a sweep must be asked for twice, and plans give
/// counts alone.
inline constexpr int64_t kManyTrials = 100'000;

/// Above this number no sweep is taken.
inline constexpr int64_t kMostTrials = 5'000'000;

struct PlannedCell {
  int64_t number = 0;         // from 1, as in the cell's id
  std::string hash;           // identity
  std::string settings_json;  // resolved, all of them; spec::ReadSettingsJson
  std::string axes_json;      // the cell's value on every axis, as text
  /// The same, in the order of the axes.
  std::vector<std::pair<std::string, std::string>> axes;
  int64_t depth = 0;
  std::string dataset_label;
  std::string method_label;  // "wav(rho=2)"
  spec::Dataset dataset;
  int64_t steps = 0;
  int64_t devices = 1;      // ranks of an attempt
  int64_t threads = 1;      // of a rank, on a CPU
  int64_t cohort_size = 1;  // seeds that train together, at most
  int64_t parameters = 0;
  double flops = 0;          // of one trial's training
  int64_t memory_bytes = 0;  // of tensors, forecast for a full cohort's attempt
  bool without_embedding = false;  // the vocabulary is not known yet
  int64_t duplicates = 0;          // further points that resolved to it
};

struct AxisCount {
  std::string key;
  int64_t values = 0;
};

/// How many points of the grid a rule matches; of those not excluded for a
/// `when`.
struct RuleCount {
  std::string rule;  // "exclude[0]", "when[1]"
  int64_t cells = 0;
};

struct Plan {
  int64_t cells = 0;  // excluded and duplicate points left out
  int64_t trials = 0;
  int64_t excluded = 0;
  std::optional<int64_t> duplicates;  // null where cells are not listed
  std::vector<AxisCount> axes;
  std::vector<RuleCount> rules;
  bool cells_listed = false;
  std::vector<PlannedCell> list;
  std::vector<int64_t> seeds;   // in the order of their index; empty likewise
  std::optional<double> flops;  // of all trials; null likewise
  std::optional<int64_t> memory_bytes;  // of the largest cell; null likewise
};

struct Planning {
  Plan plan;                      // meaningful only without problems
  std::vector<Problem> problems;  // all of them, by position

  bool ok() const { return problems.empty(); }
};

struct PlanOptions {
  /// Lists the cells however many they are (up to kMostTrials).
  bool list_all = false;
};

/// Checks the sweep and plans it. Counting never expands: cells are listed only
/// where there are at most kManyTrials trials, or on request.
Planning MakePlan(const Sweep& sweep, const PlanOptions& options = {});

/// Seeds of a cohort: the indices `first` to `first + count - 1` of the cell's.
struct CohortSeeds {
  int64_t first = 0;
  int64_t count = 0;
  bool operator==(const CohortSeeds&) const = default;
};

/// How the cell's seeds are split into cohorts: a function of the two numbers
/// alone. Cohort c is element c.
std::vector<CohortSeeds> SplitIntoCohorts(int64_t seeds, int64_t cohort_size);

}  // namespace leadline::sweep
