// Answers that are kept under the id of the request they belong to: asking
// again gets them again, and changes nothing.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "coordinator/control/command.h"

namespace leadline::control {

/// InvalidArgument: the id stands for something else.
absl::Status UsedOtherwise(const std::string& request_id);

/// Kept answers are "<what was asked> <answer>". Null if it was not that.
std::optional<std::string> AnswerFor(const std::string& kept,
                                     const std::string& asked);

/// "3 0 12". Null from ReadNumbers unless the text is exactly so many.
std::string NumbersText(const std::vector<int64_t>& numbers);
std::optional<std::vector<int64_t>> ReadNumbers(const std::string& text,
                                                size_t count);

/// "s12", "s12.3", "s12.3.0".
std::string ToText(const Target& target);

/// The sweep it is, or is part of.
SweepId SweepOf(const Target& target);

}  // namespace leadline::control
