// A sweep with its counts, from the columns of a row.

#pragma once

#include <absl/status/status.h>

#include "storage/sqlite/rows.h"
#include "storage/store_reader.h"

namespace leadline::storage::sqlite {

// After LEADLINE_SWEEP_COLUMNS.
#define LEADLINE_SWEEP_COUNTS \
  ", (SELECT count(*) FROM cell WHERE sweep = s.id)" LEADLINE_COUNT("queued") \
      LEADLINE_COUNT("leased") LEADLINE_COUNT("running")                      \
          LEADLINE_COUNT("unreachable") LEADLINE_COUNT("suspended")           \
              LEADLINE_COUNT("succeeded") LEADLINE_COUNT("diverged")          \
                  LEADLINE_COUNT("failed") LEADLINE_COUNT("cancelled")        \
  ", (SELECT count(*) FROM trial t JOIN cohort h ON h.id = t.cohort WHERE "   \
  "t.sweep = s.id AND t.state = 'cancelled' AND h.attempts = 0)"
#define LEADLINE_COUNT(state) \
  ", (SELECT count(*) FROM trial WHERE sweep = s.id AND state = '" state "')"

inline absl::Status ReadSweepRow(Query& query, SweepRow& row) {
  if (absl::Status read = ReadSweep(query, row.sweep); !read.ok()) return read;
  query.Read(row.cells);
  for (int64_t& count : row.trials) query.Read(count);
  query.Read(row.never_began);
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
