// One line that says why a sweep or a trial is where it is.

#pragma once

#include <string>

#include "leadline/v1/sweep_service.pb.h"

namespace leadline::rpc {

/// From all other fields of the message. `waiting_for` is why nothing of the
/// sweep runs; empty otherwise.
std::string SummaryOf(const v1::SweepExplanation& sweep,
                      const std::string& waiting_for);
std::string SummaryOf(const v1::TrialExplanation& trial);

}  // namespace leadline::rpc
