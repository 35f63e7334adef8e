// Text from outside as the value of a label.

#pragma once

#include <string>

namespace leadline::metrics {

/// Cut to the bound between two characters. Nothing needs escaping here: that
/// is done where it is written.
std::string LabelText(const std::string& text);

}  // namespace leadline::metrics
