// What is wrong with a sweep by itself, found without expanding it.

#pragma once

#include <vector>

#include "coordinator/sweep/sweep.h"

namespace leadline::sweep {

/// All problems, by position: keys that do not exist or are given twice,
/// options that no method of the sweep has, zips of unequal length, rules about
/// nothing, empty axes. Passes over values that could not be read.
std::vector<Problem> CheckSweep(const Sweep& sweep);

/// "rezero, wav and block_attnres".
std::string Listed(const std::vector<std::string_view>& names);

}  // namespace leadline::sweep
