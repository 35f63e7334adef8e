// Standard output of a program that has but one thing to say.

#pragma once

#include <string_view>

#include <absl/status/status.h>

namespace leadline {

/// Writes the text and sees to it that it was taken. Unknown (output) if not: a
/// full disk, or a pipe that was closed.
absl::Status PrintOut(std::string_view text);

}  // namespace leadline
