// The stores there are.

#pragma once

#include <filesystem>
#include <memory>

#include <absl/status/statusor.h>

#include "storage/store.h"
#include "storage/store_reader.h"

namespace leadline::storage {

/// A store and its reader on the same record. The reader may be used while the
/// store is written, from any thread.
struct StorePair {
  std::unique_ptr<Store> store;
  std::unique_ptr<StoreReader> reader;
};

/// Opens or creates the database and brings its schema up to date.
/// FailedPrecondition, and the file left as it is byte for byte, if it is no
/// database, another program's, or of a newer schema. Unavailable if the disk
/// refuses.
absl::StatusOr<StorePair> OpenSqliteStore(const std::filesystem::path& path);

/// The same record in memory: for tests and simulation.
StorePair MakeMemoryStore();

}  // namespace leadline::storage
