// What a file is, told from its bytes alone. SQLite itself must not look: only
// by opening another program's database it changes the files beside it.

#pragma once

#include <filesystem>

#include <absl/status/statusor.h>

namespace leadline::storage::sqlite {

enum class FileKind {
  kNew,   // not there, or empty
  kOurs,  // of a schema that this program knows
};

/// FailedPrecondition, saying what was found and what to do, for everything
/// else: a folder, no database, another program's database, a newer schema, a
/// log without its database, a missing folder. Nothing is written.
absl::StatusOr<FileKind> CheckFile(const std::filesystem::path& path);

}  // namespace leadline::storage::sqlite
