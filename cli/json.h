// JSON that the commands print: keys in the order they were added, numbers that
// read back bit for bit.

#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace leadline::cli {

using Json = nlohmann::ordered_json;

/// A number; "nan", "inf" and "-inf" where JSON has none.
Json JsonNumber(double value);

/// A proto3 optional: null where it is absent.
template <class Value>
Json JsonOptional(bool present, const Value& value) {
  if (!present) return nullptr;
  if constexpr (std::is_floating_point_v<Value>) return JsonNumber(value);
  return Json(value);
}

/// One document, indented, with a line end. Broken UTF-8 is replaced by U+FFFD.
std::string Document(const Json& json);

}  // namespace leadline::cli
