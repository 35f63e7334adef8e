// Reads the newest committed first page out of a write-ahead log, without
// SQLite: the log may hold a newer header than the database beside it.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace leadline::storage::sqlite {

/// The first 100 bytes of the database as the log has them; null where no valid
/// committed frame of the log holds page 1.
std::optional<std::string> HeaderInLog(const std::filesystem::path& log);

}  // namespace leadline::storage::sqlite
