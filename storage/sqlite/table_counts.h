// How many rows each table has.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "storage/sqlite/connection.h"

namespace leadline::storage::sqlite {

/// By name. Throws SQLite::Exception.
inline std::map<std::string, int64_t> CountRows(Connection& connection) {
  std::map<std::string, int64_t> rows;
  SQLite::Statement tables(connection.database(),
                           "SELECT name FROM sqlite_schema WHERE type = "
                           "'table' AND name NOT LIKE 'sqlite_%'");
  while (tables.executeStep()) {
    const std::string name = tables.getColumn(0).getString();
    rows[name] = connection.database()
                     .execAndGet("SELECT count(*) FROM \"" + name + "\"")
                     .getInt64();
  }
  return rows;
}

}  // namespace leadline::storage::sqlite
