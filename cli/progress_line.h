// A sweep's progress in one line.

#pragma once

#include <string>

#include "cli/json.h"
#include "cli/terminal.h"
#include "leadline/v1/sweep_service.pb.h"

namespace leadline::cli {

/// "s1: 12/24 done, 2 running, 10 queued, 41 %, 12.3k tokens/s,
/// 3 min 05 s left", and what is waited for. "done" counts succeeded and
/// diverged.
std::string ProgressLine(const v1::Progress& progress);

/// "failed: s1.3.0, attempt 2 (s1.3.0@2), oom: ...; its log: ...".
std::string FailureLine(const v1::TrialFailure& failure, const Style& style);

/// Counts by state and what else the message tells, failures left out.
Json ProgressJson(const v1::Progress& progress);

/// Trials in that state; 0 where the message does not tell.
int64_t CountOf(const v1::Progress& progress, const std::string& state);

}  // namespace leadline::cli
