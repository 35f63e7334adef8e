// Checkpoints outlive the attempt that wrote them: those of a cohort share one
// folder, which each of its attempts finds in its own.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <absl/status/status.h>

#include "common/ids.h"

namespace leadline::agent {

/// What earlier attempts of the cohort left to go on from, absolute; null for a
/// first attempt, and where there is nothing.
std::optional<std::string> FindCheckpoints(
    const std::filesystem::path& checkpoints, const AttemptKey& attempt);

/// Makes the cohort's folder in `checkpoints`, and in the attempt's a link to
/// it. What a first attempt finds there is of another coordinator's life, and
/// is moved aside. Unavailable: the disk says no.
absl::Status LinkCheckpoints(const std::filesystem::path& checkpoints,
                             const AttemptKey& attempt,
                             const std::filesystem::path& attempt_folder);

/// True if that attempt's folder leads to no checkpoint.
bool HasNoCheckpoints(const std::filesystem::path& attempt_folder);

}  // namespace leadline::agent
