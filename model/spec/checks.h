// What a cell's settings must fulfil together, each being right by itself.

#pragma once

#include <vector>

#include "model/spec/settings.h"

namespace leadline::spec {

/// All that is wrong with a cell whose settings are complete and in range.
std::vector<SettingError> CheckTogether(const Settings& settings);

}  // namespace leadline::spec
