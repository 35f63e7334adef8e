// JSON read strictly: what a hostile or careless configuration may hold is an
// error here and nowhere else.

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leadline::trainer {

/// The configuration cannot be read or cannot stand.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A value of a JSON text. Numbers are kept as written, so that their reader
/// sees every digit and judges what is too large or too small.
struct Json {
  enum class Kind { kNull, kBool, kNumber, kText, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  std::string text{};                                   // of a number or a text
  std::vector<Json> items{};                            // of an array
  std::vector<std::pair<std::string, Json>> members{};  // in order, none twice
};

/// Throws ConfigError for what is not JSON, for a key that an object has twice,
/// for more than 16 levels and for texts above 1 MiB.
Json ParseStrictJson(std::string_view text);

}  // namespace leadline::trainer
