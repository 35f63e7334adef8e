// Puts the files of a data set that must be downloaded where a trainer can open
// them.

#pragma once

#include <filesystem>

#include "model/spec/dataset_table.h"
#include "worker/dataset/fetch/fetch_options.h"

namespace leadline::dataset {

/// Returns the first file of `info`; the one held out lies beside it. Files
/// that are there are verified and never changed; what is missing is fetched,
/// verified and only then given its name, by one process at a time. A cut
/// download goes on where it was, a wrong one is deleted. Throws DataError
/// (with the address, size, hash and place of the file to put by hand),
/// FetchStopped, std::system_error (the disk).
std::filesystem::path FetchDataset(const spec::DatasetInfo& info,
                                   const FetchOptions& options);

}  // namespace leadline::dataset
