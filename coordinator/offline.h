// What is done with a state folder while no coordinator has it: restoring a
// backup, looking through the database.

#pragma once

#include <optional>

namespace leadline {

/// Runs `restore FILE --state DIR` or `fsck [FILE] --state DIR`, each with
/// --json or without, and returns the exit code; null for other arguments.
std::optional<int> RunOffline(int argc, char** argv);

}  // namespace leadline
