// One connection to the database, its prepared statements, and how SQLite's
// codes become statuses.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

namespace leadline::storage::sqlite {

/// How long a write waits for another program's lock.
inline constexpr int kBusyTimeoutMs = 2000;

/// Owned by one thread at a time. Methods and queries throw SQLite::Exception;
/// Run turns it into a status.
class Connection {
 public:
  enum class Mode { kWrite, kRead };

  Connection(const std::filesystem::path& path, Mode mode);

  /// The statement of `sql`, prepared once. `sql` is a literal.
  SQLite::Statement& Prepare(const char* sql);

  void Execute(const char* sql) { database_.exec(sql); }

  /// From now on what takes longer than `time` in all fails, with
  /// DeadlineExceeded as its status. Zero: no limit.
  void LimitTime(std::chrono::milliseconds time);

  /// Ends a transaction without its changes; safe where none is open.
  void Rollback() noexcept;

  SQLite::Database& database() { return database_; }

 private:
  static int IsLate(void* connection);

  SQLite::Database database_;
  std::chrono::steady_clock::time_point deadline_;
  std::map<const char*, SQLite::Statement> statements_;
};

/// Unavailable where the disk or another program refuses and trying again may
/// help; DataLoss for a damaged file; DeadlineExceeded where its time was up;
/// else Internal. `doing` starts the message.
absl::Status ToStatus(const SQLite::Exception& error, const std::string& doing);

/// What `work` returns (absl::Status or StatusOr), or the status of what it
/// threw.
template <typename Work>
auto Run(const std::string& doing, const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    return ToStatus(error, doing);
  }
}

/// One execution of a prepared statement: Bind in order, then Next and Read in
/// order. Gives the statement back at its end, so that no read stays open.
class Query {
 public:
  template <typename... Values>
  Query(Connection& connection, const char* sql, const Values&... values)
      : statement_(connection.Prepare(sql)) {
    (Bind(values), ...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// False after the last row.
  bool Next();

  /// For statements without rows. The number of rows changed.
  int64_t Finish();

  /// The columns of the row from the first unread one on.
  template <typename... Values>
  void Read(Values&... values) {
    (Take(values), ...);
  }

 private:
  void Bind(int64_t value);
  void Bind(double value);
  void Bind(const std::string& value);
  template <typename T>
  void Bind(const std::optional<T>& value) {
    if (value) return Bind(*value);
    statement_.bind(++bound_);
  }

  void Take(int64_t& value);
  void Take(double& value);
  void Take(std::string& value);
  template <typename T>
  void Take(std::optional<T>& value) {
    if (statement_.isColumnNull(column_)) {
      value.reset();
      ++column_;
      return;
    }
    Take(value.emplace());
  }

  SQLite::Statement& statement_;
  int bound_ = 0;
  int column_ = 0;
};

}  // namespace leadline::storage::sqlite
