// Reads the rest of a query's rows into records.

#pragma once

#include <vector>

#include <absl/status/status.h>

#include "storage/sqlite/connection.h"

namespace leadline::storage::sqlite {

/// Appends a record a row, by `read(query, record)`.
template <typename Record, typename ReadOne>
absl::Status ReadAll(Query& query, std::vector<Record>& records,
                     const ReadOne& read) {
  while (query.Next()) {
    if (absl::Status one = read(query, records.emplace_back()); !one.ok()) {
      return one;
    }
  }
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
