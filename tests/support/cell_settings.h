// Resolved settings of small models for tests.

#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "model/spec/settings.h"

namespace leadline::testing {

/// A model of 3 layers, width 8, two heads and 12 tokens of context, float64,
/// with `changes` on top. Throws std::invalid_argument where they cannot stand.
inline spec::Settings CellSettings(const std::string& method,
                                   const spec::GivenSettings& changes = {}) {
  spec::GivenSettings given = {{"method", method},
                               {"depth", int64_t{3}},
                               {"d_model", int64_t{8}},
                               {"n_heads", int64_t{2}},
                               {"d_ff", int64_t{12}},
                               {"context", int64_t{12}},
                               {"precision", std::string("fp64")},
                               {"checkpoint_every", std::string("off")}};
  for (const auto& [key, value] : changes) given[key] = value;
  spec::Resolution resolution = spec::Resolve(given);
  if (!resolution.errors.empty()) {
    throw std::invalid_argument(resolution.errors[0].key + ": " +
                                resolution.errors[0].message);
  }
  return std::move(resolution.settings);
}

}  // namespace leadline::testing
