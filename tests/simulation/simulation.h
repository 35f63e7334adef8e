// Plays one script against the programs' own logic and judges every step.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plant.h"
#include "script.h"

namespace leadline::simulation {

struct Outcome {
  std::optional<std::string> violation;  // null: all held
  double at_s = 0;                       // when it was seen, or all was done
  int64_t steps = 0;
  int64_t attempts = 0;
  /// Faults that really happened: a trainer to kill may not be there.
  std::array<int64_t, kFaultKinds.size()> faults{};
  std::vector<std::string> trace;  // if asked for
};

Outcome Play(const Script& script, Plant plant = Plant::kNone,
             bool with_trace = false);

/// The script with as few faults as still break the same way.
Script Shrink(const Script& script, Plant plant);

}  // namespace leadline::simulation
