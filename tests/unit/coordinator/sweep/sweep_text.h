// Sweeps for tests, written as the user writes them.

#pragma once

#include <string>

#include <gtest/gtest.h>

#include "coordinator/spec_reader/spec_reader.h"
#include "coordinator/sweep/plan.h"

namespace leadline::sweep {

/// The sweep of that text; data files hash to their path.
inline Sweep SweepOf(const std::string& text) {
  const spec_reader::Reading reading = spec_reader::ReadSweep(
      "leadline: 1\n" + text, "/data",
      [](const std::string& path,
         const std::string&) -> absl::StatusOr<spec_reader::DataFacts> {
        return spec_reader::DataFacts{"hash of " + path, {}};
      });
  for (const Problem& problem : reading.problems) {
    ADD_FAILURE() << spec_reader::ToText(problem, "sweep") << "\n" << text;
  }
  return reading.sweep;
}

inline Plan PlanOf(const std::string& text, const PlanOptions& options = {}) {
  const Planning planning = MakePlan(SweepOf(text), options);
  for (const Problem& problem : planning.problems) {
    ADD_FAILURE() << spec_reader::ToText(problem, "sweep") << "\n" << text;
  }
  return planning.plan;
}

}  // namespace leadline::sweep
