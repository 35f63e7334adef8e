// What a text must be before a parser sees it.

#pragma once

#include <optional>
#include <string_view>

#include "coordinator/sweep/sweep.h"

namespace leadline::spec_reader {

/// The first thing wrong with the bytes: too many, not UTF-8, a control
/// character. Null if the text may be parsed.
std::optional<sweep::Problem> CheckText(std::string_view text);

}  // namespace leadline::spec_reader
