// JSON from outside, read so that no text can hurt: bounded depth, no doubled
// keys, and nothing after the value.

#pragma once

#include <string>
#include <string_view>

#include <absl/status/statusor.h>
#include <nlohmann/json.hpp>

namespace leadline::agent {

/// InvalidArgument, with a short printable reason, unless `text` is one JSON
/// value of at most `depth` nested objects and arrays without doubled keys.
absl::StatusOr<nlohmann::json> ParseStrictJson(std::string_view text,
                                               size_t depth = 8);

}  // namespace leadline::agent
