// Puts the file of a registered data set where a trainer can open it.

#pragma once

#include <filesystem>
#include <optional>

#include "model/spec/dataset_table.h"

namespace leadline::dataset {

/// Returns the file of `info`, verified by its hash. A built-in corpus is made
/// in `folder` if it is not there, whole or not at all, though several
/// processes ask at once; a sample lies in `samples`; what must be downloaded
/// is looked for in `folder`. Throws DataError (missing, or not what its hash
/// says) with what the reader can do, std::system_error if it cannot write.
std::filesystem::path EnsureDataset(
    const spec::DatasetInfo& info, const std::filesystem::path& folder,
    const std::optional<std::filesystem::path>& samples);

}  // namespace leadline::dataset
