// Where stored results meet their messages.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

/// Attempts of a trial that are shown: the newest; the view `attempts` has all.
inline constexpr int64_t kMostAttempts = 100;

/// Adds the newest to `message`, oldest first, each with its orphans (by the
/// number of the attempt). Returns how many are left out.
template <typename Message>
int64_t AddNewest(const std::vector<storage::AttemptRecord>& attempts,
                  const std::map<int64_t, int64_t>& orphans,
                  const TrialId& trial, Message& message) {
  const int64_t left_out =
      std::max<int64_t>(0, std::ssize(attempts) - kMostAttempts);
  for (auto one = attempts.begin() + left_out; one != attempts.end(); ++one) {
    v1::AttemptSummary& summary = *message.add_attempts() =
        SummaryOf(*one, trial);
    const auto found = orphans.find(one->key.number);
    if (found != orphans.end()) summary.set_orphans(found->second);
  }
  return left_out;
}

v1::TrialResult ResultOf(const storage::ResultRecord& result);
v1::RoutingReply ReplyOf(const storage::RoutingRecord& routing);

/// With the statistics over its values; the floor is that of `split`.
v1::CellResult ResultOf(const storage::CellValues& values,
                        const std::string& split);

}  // namespace leadline::rpc
