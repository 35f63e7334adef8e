// A copy of the database, made in a file of the state folder and sent piece by
// piece.

#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <vector>

#include <absl/status/statusor.h>

#include "common/sha256.h"
#include "leadline/v1/sweep_service.pb.h"
#include "storage/store_reader.h"

namespace leadline::rpc {

/// Owned by one thread at a time.
class BackupPages {
 public:
  /// The copy is made in `folder`, which then has no name of it any more: its
  /// room is free again when this is destroyed. `is_made` is shared by all of
  /// a coordinator: one copy is made at a time. Both must outlive this, and so
  /// must the reader.
  BackupPages(const storage::StoreReader& reader, std::filesystem::path folder,
              std::atomic<bool>& is_made);
  ~BackupPages();
  BackupPages(const BackupPages&) = delete;
  BackupPages& operator=(const BackupPages&) = delete;

  /// The header, then pieces, then the end; empty after it. Unavailable while
  /// another copy is made, or where the disk refuses.
  absl::StatusOr<std::vector<v1::BackupPart>> Next();

 private:
  absl::StatusOr<std::vector<v1::BackupPart>> Make();

  const storage::StoreReader& reader_;
  const std::filesystem::path folder_;
  std::atomic<bool>& is_made_;
  bool begun_ = false;
  bool ended_ = false;
  int file_ = -1;
  Sha256 hash_;
};

}  // namespace leadline::rpc
