// Which kind of failure a text of a library or of the system speaks of.

#pragma once

#include <optional>
#include <string_view>

#include "common/experiment.h"

namespace leadline::agent {

/// Null if it speaks of none that is known.
std::optional<FailureKind> KindFromText(std::string_view text);

}  // namespace leadline::agent
