#include "storage/sqlite/connection.h"

#include <cmath>
#include <limits>

#include <sqlite3.h>

namespace leadline::storage::sqlite {
namespace {

// Another program may hold the write lock; ours are kept apart by the store.
constexpr int kBusyTimeoutMs = 2000;

int Flags(Connection::Mode mode) {
  if (mode == Connection::Mode::kRead) return SQLite::OPEN_READONLY;
  return SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;
}

}  // namespace

Connection::Connection(const std::filesystem::path& path, Mode mode)
    : database_(path.string(), Flags(mode), kBusyTimeoutMs) {
  sqlite3_extended_result_codes(database_.getHandle(), 1);
  // A view of a hostile file must not call what it likes.
  sqlite3_db_config(database_.getHandle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
                    nullptr);
  if (mode == Mode::kRead) return;
  database_.exec("PRAGMA foreign_keys = ON");
  database_.exec("PRAGMA synchronous = FULL");
  database_.exec("PRAGMA journal_size_limit = 67108864");
}

SQLite::Statement& Connection::Prepare(const char* sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  return statements_.emplace(sql, SQLite::Statement(database_, sql))
      .first->second;
}

void Connection::Rollback() noexcept {
  if (sqlite3_get_autocommit(database_.getHandle()) == 0) {
    database_.tryExec("ROLLBACK");
  }
}

absl::Status ToStatus(const SQLite::Exception& error,
                      const std::string& doing) {
  const std::string message = doing + ": " + error.what() + " (SQLite " +
                              std::to_string(error.getExtendedErrorCode()) +
                              ")";
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return absl::UnavailableError(message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(message);
    default:
      return absl::InternalError(message);
  }
}

Query::~Query() {
  statement_.tryReset();
  statement_.clearBindings();
}

bool Query::Next() {
  column_ = 0;
  return statement_.executeStep();
}

int64_t Query::Finish() { return statement_.exec(); }

void Query::Bind(int64_t value) { statement_.bind(++bound_, value); }

void Query::Bind(double value) {
  ++bound_;
  if (std::isnan(value)) {
    statement_.bind(bound_, "nan");
  } else {
    statement_.bind(bound_, value);
  }
}

void Query::Bind(const std::string& value) { statement_.bind(++bound_, value); }

void Query::Take(int64_t& value) {
  value = statement_.getColumn(column_++).getInt64();
}

void Query::Take(double& value) {
  const SQLite::Column column = statement_.getColumn(column_++);
  value = column.isText() ? std::numeric_limits<double>::quiet_NaN()
                          : column.getDouble();
}

void Query::Take(std::string& value) {
  value = statement_.getColumn(column_++).getString();
}

}  // namespace leadline::storage::sqlite
