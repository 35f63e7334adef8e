// One trial in full, and lists of trials.

#pragma once

#include <string>

#include "cli/json.h"
#include "cli/sweep_rows.h"
#include "cli/terminal.h"

namespace leadline::cli {

/// State, result, settings, attempts with their ends.
std::string RenderTrial(const v1::ShowTrialReply& reply, const Style& style);
Json TrialDetailsJson(const v1::ShowTrialReply& reply);

/// A row a trial, and "20 of 27" where the list is a part.
std::string RenderTrials(const TrialList& list, const Style& style);
Json TrialsJson(const TrialList& list);

/// A sweep's row as lines.
std::string RenderSweep(const v1::SweepSummary& sweep, const Style& style);

}  // namespace leadline::cli
