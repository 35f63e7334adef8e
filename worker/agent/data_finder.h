// Puts the data of an attempt where its trainer can open it, away from the
// thread that renews leases: making or hashing a corpus takes a while.

#pragma once

#include <functional>
#include <string>

#include <absl/status/statusor.h>

#include "leadline/v1/experiment.pb.h"

namespace leadline::agent {

/// The file of the data set, absolute. NotFound if it is missing or is not what
/// its hash says (failure kind data), Unavailable if it cannot be written
/// (disk). Called from a thread of its own, one call at a time.
using FindData =
    std::function<absl::StatusOr<std::string>(const v1::Dataset& dataset)>;

/// Registered data sets are made or looked for in `folder`, samples in the
/// folder that `samples` names (may be empty); files of users are looked for
/// at their path. All are checked by content.
FindData MakeDataFinder(std::string folder, std::string samples);

}  // namespace leadline::agent
