// Why a sweep or a trial is where it is, for people and for programs.

#pragma once

#include <string>

#include "cli/json.h"
#include "cli/terminal.h"
#include "leadline/v1/sweep_service.pb.h"

namespace leadline::cli {

/// What it is and why, then what was tried, then what came too late.
std::string RenderExplanation(const v1::ExplainReply& reply,
                              const Style& style);
Json ExplanationJson(const v1::ExplainReply& reply);

}  // namespace leadline::cli
