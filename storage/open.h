// The stores there are.

#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>

#include <absl/status/statusor.h>

#include "storage/access_store.h"
#include "storage/store.h"
#include "storage/store_reader.h"

namespace leadline::storage {

/// A store, its reader, and who may come in, on the same record. The reader may
/// be used while the store is written, from any thread.
struct StorePair {
  std::shared_ptr<Store> store;
  std::unique_ptr<StoreReader> reader;
  std::shared_ptr<AccessStore> access;
};

struct OpenOptions {
  /// How long opening may look for damage. What it does not get to is looked
  /// through afterwards, on a thread of its own.
  std::chrono::milliseconds check_time{300};
  /// Gets what that found: OK, or DataLoss with what to do. From another
  /// thread, once at most.
  std::function<void(const absl::Status&)> checked = [](const absl::Status&) {};
  /// Readers do not wait for the writer. Not on a network file system, where
  /// the log's shared memory corrupts the file.
  bool write_ahead_log = true;
};

/// Opens or creates the database and brings its schema up to date.
/// FailedPrecondition, and the file left as it is byte for byte, if it is no
/// database, another program's, or of a newer schema. DataLoss if it is
/// damaged. Unavailable if the disk refuses.
absl::StatusOr<StorePair> OpenSqliteStore(const std::filesystem::path& path,
                                          OpenOptions options = {});

/// The same record in memory: for tests and simulation.
StorePair MakeMemoryStore();

}  // namespace leadline::storage
