#include "storage/sqlite/connection.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "common/no_room.h"
#include "errors/error_code.h"

namespace leadline::storage::sqlite {
namespace {

// Instructions of SQLite's machine between two looks at the clock.
constexpr int kBetweenLooks = 10'000;

// Each connection has one thread at a time, so SQLite's own locks, taken for
// every column, would only cost.
int Flags(Connection::Mode mode) {
  const int flags = SQLite::OPEN_NOMUTEX;
  if (mode == Connection::Mode::kRead) return flags | SQLite::OPEN_READONLY;
  return flags | SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE;
}

/// The errno of making the log beside a database; 0 if it is there now.
int WhyNoLog(const std::filesystem::path& path) {
  const int file = open((path.string() + "-wal").c_str(),
                        O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) return errno;
  close(file);
  return 0;
}

}  // namespace

Connection::Connection(const std::filesystem::path& path, Mode mode)
    : database_(path.string(), Flags(mode), kBusyTimeoutMs) {
  sqlite3_extended_result_codes(database_.getHandle(), 1);
  // A view of a hostile file must not call what it likes.
  sqlite3_db_config(database_.getHandle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
                    nullptr);
  if (mode == Mode::kRead) {
    database_.exec("PRAGMA cache_size = -8192");
    return;
  }
  try {
    database_.exec("PRAGMA foreign_keys = ON");
    database_.exec("PRAGMA synchronous = FULL");
    database_.exec("PRAGMA journal_size_limit = 16777216");
  } catch (const SQLite::Exception&) {
    // Of a log that cannot be made SQLite says only that it cannot open it, and
    // tells of its own second try, for reading.
    const int error = WhyNoLog(path);
    if (!IsNoRoom(error)) throw;
    throw SQLite::Exception("the log beside it cannot be made: " +
                                std::string(std::strerror(error)),
                            SQLITE_FULL);
  }
}

SQLite::Statement& Connection::Prepare(const char* sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return found->second;
  return statements_.emplace(sql, SQLite::Statement(database_, sql))
      .first->second;
}

int Connection::IsLate(void* connection) {
  const auto deadline = static_cast<Connection*>(connection)->deadline_;
  return std::chrono::steady_clock::now() > deadline ? 1 : 0;
}

void Connection::LimitTime(std::chrono::milliseconds time) {
  deadline_ = std::chrono::steady_clock::now() + time;
  const bool limited = time.count() > 0;
  sqlite3_progress_handler(database_.getHandle(), limited ? kBetweenLooks : 0,
                           limited ? &IsLate : nullptr, this);
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
      return WithError(absl::UnavailableError(message), ErrorCode::kDiskFull);
    case SQLITE_IOERR:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_NOMEM:
      return WithError(absl::UnavailableError(message),
                       ErrorCode::kStoreRefused);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return WithError(absl::UnavailableError(message),
                       ErrorCode::kStateUnusable);
    case SQLITE_INTERRUPT:
      return absl::DeadlineExceededError(doing + ": it takes too long");
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
