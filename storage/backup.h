// Copies of the database, and looking one through: for programs that work on
// files while no coordinator does.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

namespace leadline::storage {

/// What a copy holds.
struct BackupFacts {
  int64_t bytes = 0;
  int64_t schema = 0;
  std::map<std::string, int64_t> rows;  // by table
};

/// Copies the database as it is at one moment, whoever writes it meanwhile, to
/// `target`, which is replaced; it is looked through, its rows are counted
/// against those of that moment, and it is on disk when this returns.
/// FailedPrecondition unless `database` is ours; DataLoss if it or the copy is
/// damaged; Unavailable if the disk refuses.
absl::StatusOr<BackupFacts> CopyDatabase(const std::filesystem::path& database,
                                         const std::filesystem::path& target);

/// Removes a database that nobody uses, with what SQLite keeps beside it, as
/// far as they are there.
void RemoveDatabase(const std::filesystem::path& database);

/// Something that should not be.
struct Finding {
  std::string rule;  // that is broken, in a few words
  std::string what;  // breaks it: an id, and how many there are
};

struct DatabaseReport {
  BackupFacts facts;
  std::vector<Finding> findings;
};

/// Looks through all of a database that nobody uses: its structure, that what
/// is referred to is there, the rules of the record, and the views. Nothing is
/// written. FailedPrecondition unless it is ours.
absl::StatusOr<DatabaseReport> CheckDatabase(
    const std::filesystem::path& database);

struct AccessCounts {
  int64_t tokens = 0;
  int64_t audit_entries = 0;
};

/// Gives `to` the tokens and the audit of `from`, in the place of its own;
/// nobody may use either. An error leaves `to` as it was: NotFound if there is
/// no `from` or it never had a token; DataLoss if it is damaged, Unavailable
/// while somebody uses it or `to` cannot be written. `to` is brought to today's
/// schema first.
absl::StatusOr<AccessCounts> CarryAccess(const std::filesystem::path& from,
                                         const std::filesystem::path& to);

/// Puts `copy`, on the same file system, in the place of the database, which
/// nobody may use. What was there is kept under the name that is returned;
/// empty if nothing was. At no moment is there no database.
absl::StatusOr<std::filesystem::path> PutInPlace(
    const std::filesystem::path& copy, const std::filesystem::path& database,
    const std::string& suffix);

}  // namespace leadline::storage
