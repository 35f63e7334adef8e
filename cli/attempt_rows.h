// The attempts of a trial, wherever they are listed.

#pragma once

#include <string>

#include <google/protobuf/repeated_ptr_field.h>

#include "cli/json.h"
#include "cli/terminal.h"
#include "leadline/v1/results_service.pb.h"

namespace leadline::cli {

using Attempts = google::protobuf::RepeatedPtrField<v1::AttemptSummary>;

/// A row each, "attempts: none yet" where there is none.
std::string RenderAttempts(const Attempts& attempts, const Style& style);
Json AttemptsJson(const Attempts& attempts);

using Ranks = google::protobuf::RepeatedPtrField<v1::AttemptRank>;

/// Where each process of an attempt runs.
std::string RenderRanks(const Ranks& ranks, const Style& style);
Json RanksJson(const Ranks& ranks);

}  // namespace leadline::cli
