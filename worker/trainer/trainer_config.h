// The configuration file of a trainer, read strictly.

#pragma once

#include <string_view>

#include "model/spec/identity.h"
#include "worker/trainer/strict_json.h"

namespace leadline::trainer {

/// Reads what spec::TrainerConfigJson writes; settings that are left out get
/// their defaults. Throws ConfigError that names the key: unknown, doubled or
/// missing keys, wrong types, values out of range, settings that cannot stand
/// together.
spec::TrainerConfig ParseTrainerConfig(std::string_view text);

}  // namespace leadline::trainer
