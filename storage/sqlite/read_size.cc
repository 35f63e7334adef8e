#include <system_error>

#include "storage/sqlite/sqlite_reader.h"

namespace leadline::storage::sqlite {

absl::StatusOr<StoreSize> SqliteReader::Size() const {
  std::error_code error;
  StoreSize size;
  size.database_bytes =
      static_cast<int64_t>(std::filesystem::file_size(path_, error));
  if (error) {
    return absl::UnavailableError("looking at " + path_.string() + ": " +
                                  error.message());
  }
  const auto log = std::filesystem::file_size(path_.string() + "-wal", error);
  if (!error) size.log_bytes = static_cast<int64_t>(log);
  return size;
}

}  // namespace leadline::storage::sqlite
