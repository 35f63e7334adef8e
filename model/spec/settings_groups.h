// The rows of the settings table, a group each, in the order they are shown.
// Read them through SettingsTable.

#pragma once

#include <vector>

#include "model/spec/settings.h"

namespace leadline::spec {

std::vector<SettingInfo> ModelSettings();
std::vector<SettingInfo> MethodSettings();
std::vector<SettingInfo> TrainingSettings();
std::vector<SettingInfo> EvaluationSettings();
std::vector<SettingInfo> RunningSettings();

}  // namespace leadline::spec
