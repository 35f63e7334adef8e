#include "storage/sqlite/load_contents.h"

#include <limits>
#include <utility>

#include "storage/sqlite/read_all.h"
#include "storage/sqlite/rows.h"

namespace leadline::storage::sqlite {
namespace {

constexpr CellRange kAll{1, std::numeric_limits<int64_t>::max()};

absl::Status LoadParts(Connection& connection, SweepContents& contents,
                       const CellRange& range) {
  const int64_t sweep = contents.sweep.id.value;
  Query errands(connection,
                "SELECT " LEADLINE_ERRAND_COLUMNS
                " FROM errand e WHERE e.sweep = ? ORDER BY e.id",
                sweep);
  if (auto read = ReadAll(errands, contents.errands, ReadErrand); !read.ok()) {
    return read;
  }
  Query cells(
      connection,
      "SELECT " LEADLINE_CELL_COLUMNS
      " FROM cell c WHERE c.sweep = ? AND c.number BETWEEN ? AND ? ORDER BY "
      "c.number",
      sweep, range.first, range.last);
  if (auto read = ReadAll(cells, contents.cells, ReadCell); !read.ok()) {
    return read;
  }
  Query cohorts(connection,
                "SELECT " LEADLINE_COHORT_COLUMNS
                " FROM cell c JOIN cohort h ON h.cell = c.id WHERE c.sweep = ? "
                "AND c.number BETWEEN ? AND ? ORDER BY c.number, h.number",
                sweep, range.first, range.last);
  if (auto read = ReadAll(cohorts, contents.cohorts, ReadCohort); !read.ok()) {
    return read;
  }
  Query trials(connection,
               "SELECT " LEADLINE_TRIAL_COLUMNS
               " FROM cell c JOIN trial t ON t.cell = c.id JOIN cohort h ON "
               "h.id = t.cohort WHERE c.sweep = ? AND c.number BETWEEN ? AND ? "
               "ORDER BY c.number, t.seed_index",
               sweep, range.first, range.last);
  if (auto read = ReadAll(trials, contents.trials, ReadTrial); !read.ok()) {
    return read;
  }
  Query live(connection,
             "SELECT " LEADLINE_ATTEMPT_COLUMNS
             " FROM cell c JOIN cohort h ON h.cell = c.id JOIN attempt a ON "
             "a.cohort = h.id WHERE c.sweep = ? AND c.number BETWEEN ? AND ? "
             "AND a.outcome = 'live' ORDER BY c.number, h.number, a.number",
             sweep, range.first, range.last);
  if (auto read = ReadAll(live, contents.live, ReadAttempt); !read.ok()) {
    return read;
  }
  Query cancelled(connection,
                  "SELECT " LEADLINE_ATTEMPT_COLUMNS
                  " FROM cell c JOIN cohort h ON h.cell = c.id JOIN attempt a "
                  "ON a.cohort = h.id AND a.number = h.attempts WHERE c.sweep "
                  "= ? AND c.number BETWEEN ? AND ? AND a.outcome = "
                  "'cancelled' ORDER BY c.number, h.number",
                  sweep, range.first, range.last);
  return ReadAll(cancelled, contents.cancelled, ReadAttempt);
}

}  // namespace

absl::StatusOr<std::vector<SweepContents>> LoadAllUnfinished(
    Connection& connection) {
  std::vector<SweepRecord> sweeps;
  {
    Query query(connection,
                "SELECT " LEADLINE_SWEEP_COLUMNS
                " FROM sweep s WHERE s.state IN ('active', 'paused') AND "
                "s.removed_at IS NULL ORDER BY s.id");
    if (auto read = ReadAll(query, sweeps, ReadSweep); !read.ok()) return read;
  }
  std::vector<SweepContents> all(sweeps.size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].sweep = std::move(sweeps[i]);
    if (auto read = LoadParts(connection, all[i], kAll); !read.ok())
      return read;
  }
  return all;
}

absl::StatusOr<SweepContents> LoadOne(Connection& connection, SweepId sweep) {
  return LoadSome(connection, sweep, kAll);
}

absl::StatusOr<SweepContents> LoadSome(Connection& connection, SweepId sweep,
                                       const CellRange& range) {
  SweepContents contents;
  {
    Query query(connection,
                "SELECT " LEADLINE_SWEEP_COLUMNS
                " FROM sweep s WHERE s.id = ? AND s.removed_at IS NULL",
                sweep.value);
    if (!query.Next()) return absl::NotFoundError("no sweep " + ToText(sweep));
    if (auto read = ReadSweep(query, contents.sweep); !read.ok()) return read;
  }
  if (auto read = LoadParts(connection, contents, range); !read.ok())
    return read;
  return contents;
}

}  // namespace leadline::storage::sqlite
