// The configuration as JSON, read strictly.

#pragma once

#include <stdexcept>
#include <string_view>

#include "common/strict_json.h"

namespace leadline::trainer {

/// The configuration cannot be read or cannot stand.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws ConfigError for what is not JSON, for a key that an object has twice,
/// for more than 16 levels and for texts above 1 MiB.
Json ParseStrictJson(std::string_view text);

}  // namespace leadline::trainer
