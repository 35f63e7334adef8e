// Why a sweep or a trial is where it is: what control decides by, joined with
// the past in the store.

#pragma once

#include <optional>

#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "coordinator/control/explanation.h"
#include "leadline/v1/sweep_service.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// `now` is what control said of the target, asked before this is called; null
/// where its sweep is no longer in memory. A sweep or a trial, no cell.
/// NotFound if it is not in the store.
absl::StatusOr<v1::ExplainReply> ExplainWith(
    const storage::StoreReader& reader, const control::Target& target,
    const std::optional<control::Explanation>& now);

}  // namespace leadline::rpc
