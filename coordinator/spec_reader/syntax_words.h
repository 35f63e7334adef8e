// Words for people about a text that is no YAML.

#pragma once

#include <string_view>

#include "coordinator/sweep/sweep.h"

namespace leadline::spec_reader {

/// What stands at that place of `text`, as it arrived, and what is wrong with
/// it: `of_parser`, or our words for what that often says.
sweep::Problem SyntaxProblem(std::string_view text, sweep::Position at,
                             std::string_view of_parser);

}  // namespace leadline::spec_reader
