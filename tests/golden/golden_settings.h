// The settings of a golden file's configuration.

#pragma once

#include "model/spec/settings.h"
#include "tests/golden/golden_file.h"

namespace leadline::golden {

/// What a configuration says, and neutral values for keys it does not name.
/// Throws NotThere for a method or option that the model does not have.
spec::Settings SettingsOf(const nlohmann::json& config);
inline spec::Settings SettingsOf(const GoldenFile& file) {
  return SettingsOf(file.config());
}

/// The seeds of the configuration, one a replica.
std::vector<int64_t> SeedsOf(const GoldenFile& file);

}  // namespace leadline::golden
