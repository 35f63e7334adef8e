// Writing the few JSON forms whose bytes must never change.

#pragma once

#include <string>
#include <string_view>

#include "model/spec/settings.h"

namespace leadline::spec {

/// The text in quotes, with JSON's escapes.
std::string JsonText(std::string_view text);

/// An integer or a number with its type, or a quoted word.
std::string JsonValue(const Value& value);

}  // namespace leadline::spec
