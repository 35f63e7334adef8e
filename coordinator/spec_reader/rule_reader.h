// The rules of a sweep file: exclude and when.

#pragma once

#include <optional>

#include "coordinator/spec_reader/value_reader.h"
#include "coordinator/spec_reader/yaml_tree.h"
#include "coordinator/sweep/sweep.h"

namespace leadline::spec_reader {

/// The cells a map of keys and values stands for; a list stands for any of its
/// members. What cannot be read is noted in `values`.
sweep::Rule ReadRule(const Node& node, ValueReader& values);

/// One member of `when`; null, with a problem noted, unless it is whole.
std::optional<sweep::When> ReadWhen(const Node& node, ValueReader& values);

}  // namespace leadline::spec_reader
