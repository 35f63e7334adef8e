// What connections to SQLite are asked while a trace lives.

#pragma once

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

namespace leadline::test {

/// Sees every statement of every connection that is opened while it lives, its
/// values filled in. One at a time.
class StatementTrace {
 public:
  StatementTrace() {
    Take();
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(Attach));
  }
  ~StatementTrace() { sqlite3_reset_auto_extension(); }
  StatementTrace(const StatementTrace&) = delete;
  StatementTrace& operator=(const StatementTrace&) = delete;

  /// The statements since the last call.
  static std::vector<std::string> Take() {
    const std::lock_guard lock(Seen().mutex);
    return std::exchange(Seen().statements, {});
  }

 private:
  struct Log {
    std::mutex mutex;
    std::vector<std::string> statements;
  };

  // A C callback has no other place.
  static Log& Seen() {
    static Log log;
    return log;
  }

  static int Note(unsigned, void*, void* statement, void*) {
    char* text = sqlite3_expanded_sql(static_cast<sqlite3_stmt*>(statement));
    const std::lock_guard lock(Seen().mutex);
    Seen().statements.emplace_back(text ? text : "");
    sqlite3_free(text);
    return 0;
  }

  static int Attach(sqlite3* database, char**, const sqlite3_api_routines*) {
    sqlite3_trace_v2(database, SQLITE_TRACE_STMT, Note, nullptr);
    return SQLITE_OK;
  }
};

/// SQLite's plan of a statement, one step a line.
inline std::string PlanOf(SQLite::Database& database, const std::string& sql) {
  SQLite::Statement query(database, "EXPLAIN QUERY PLAN " + sql);
  std::string plan;
  while (query.executeStep()) plan += query.getColumn(3).getString() + "\n";
  return plan;
}

}  // namespace leadline::test
