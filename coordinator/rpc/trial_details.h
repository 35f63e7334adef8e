// All there is to say of one trial.

#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "leadline/v1/results_service.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// The id of a trial. InvalidArgument, with an example, if it is none.
absl::StatusOr<TrialId> ReadTrialId(const std::string& text);

/// NotFound if there is no such trial.
absl::StatusOr<v1::ShowTrialReply> ShowTrial(const storage::StoreReader& reader,
                                             const TrialId& trial);

/// The trainer's configuration of the trial's cohort, all its seeds: device,
/// threads and data as the attempt had them that gave the result, else as the
/// last one that started had them, else as the cell says. NotFound if there is
/// no such trial.
absl::StatusOr<std::string> TrainerConfigOf(const storage::StoreReader& reader,
                                            const TrialId& trial);

}  // namespace leadline::rpc
