// Changes what people say of a sweep, for the commands that do.

#pragma once

#include "cli/command.h"

namespace leadline::cli {

/// Sends the request under a fresh id and prints what the sweep is now.
absl::Status EditSweep(Context& context, v1::EditRequest request);

}  // namespace leadline::cli
