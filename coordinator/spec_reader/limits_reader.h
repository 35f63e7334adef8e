// The limits of a sweep file.

#pragma once

#include "coordinator/spec_reader/value_reader.h"
#include "coordinator/spec_reader/yaml_tree.h"
#include "coordinator/sweep/sweep.h"

namespace leadline::spec_reader {

/// What `limits` says; what cannot be read is noted in `values` and left out.
sweep::Limits ReadLimits(const Node& node, ValueReader& values);

}  // namespace leadline::spec_reader
