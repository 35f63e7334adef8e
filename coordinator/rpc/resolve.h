// What people write for a sweep, a cell or a trial, as an id.

#pragma once

#include <string>

#include <absl/status/statusor.h>

#include "coordinator/control/command.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// `text` is an id or a unique prefix of a sweep's name; empty: the newest
/// sweep. NotFound if there is none, InvalidArgument if the prefix is not
/// unique. A sweep that is returned exists.
absl::StatusOr<SweepId> ResolveSweep(const storage::StoreReader& reader,
                                     const std::string& text);

/// The same, and InvalidArgument for an empty text: what changes something says
/// what.
absl::StatusOr<SweepId> ResolveNamedSweep(const storage::StoreReader& reader,
                                          const std::string& text);

/// NotFound if there is no such cell.
absl::StatusOr<storage::CellValues> FindCell(const storage::StoreReader& reader,
                                             const CellId& cell);

/// The same with ids of cells and trials. What is returned exists.
absl::StatusOr<control::Target> ResolveTarget(
    const storage::StoreReader& reader, const std::string& text);

}  // namespace leadline::rpc
