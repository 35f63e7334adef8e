// Where stored results meet their messages.

#pragma once

#include <string>

#include "leadline/v1/results_service.pb.h"
#include "storage/records.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// Values of more seeds than this are left out of a cell's message, which has a
/// limit; its statistics are over all of them.
inline constexpr int kMostSeedValues = 10'000;

v1::SweepSummary SummaryOf(const storage::SweepRow& row);
v1::TrialSummary SummaryOf(const storage::TrialRow& row);
v1::AttemptSummary SummaryOf(const storage::AttemptRecord& attempt,
                             const TrialId& trial);
v1::TrialResult ResultOf(const storage::ResultRecord& result);
v1::RoutingReply ReplyOf(const storage::RoutingRecord& routing);

/// With the statistics over its values; the floor is that of `split`.
v1::CellResult ResultOf(const storage::CellValues& values,
                        const std::string& split);

}  // namespace leadline::rpc
