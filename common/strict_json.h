// JSON from outside, read strictly: what a hostile or careless text may hold is
// an error here and nowhere else.

#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leadline {

/// The text is not JSON, or more than the limits allow.
class JsonError : public std::runtime_error {
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

struct JsonLimits {
  std::string_view what = "the text";  // as messages call it
  size_t bytes = size_t{1} << 20U;
  size_t levels = 16;
};

/// Throws JsonError for what is not JSON, for a key that an object has twice,
/// and for what is above the limits.
Json ParseStrictJson(std::string_view text, const JsonLimits& limits);

/// The member of that name; null if there is none.
const Json* FindMember(const Json& object, std::string_view name);

}  // namespace leadline
