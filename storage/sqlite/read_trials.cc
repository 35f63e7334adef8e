// Trials, attempts and results.

#include <algorithm>
#include <limits>
#include <utility>

#include "storage/sqlite/read_all.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/sqlite_reader.h"

namespace leadline::storage::sqlite {
namespace {

#define LEADLINE_TRIAL_ROW                                                  \
  "SELECT " LEADLINE_TRIAL_COLUMNS ", " LEADLINE_CELL_COLUMNS               \
  ", h.attempts, r.validation_loss, (SELECT a.kind FROM attempt a WHERE "   \
  "a.cohort = h.id AND a.kind IS NOT NULL ORDER BY a.number DESC LIMIT 1) " \
  "FROM cell c JOIN trial t ON t.cell = "                                   \
  "c.id JOIN cohort h ON h.id = t.cohort LEFT JOIN result r ON r.trial = "  \
  "t.id "

absl::Status ReadTrialRow(Query& query, TrialRow& row) {
  if (absl::Status read = ReadTrial(query, row.trial); !read.ok()) return read;
  if (absl::Status read = ReadCell(query, row.cell); !read.ok()) return read;
  std::optional<std::string> kind;
  query.Read(row.attempts, row.validation_loss, kind);
  if (kind) row.failed_kind = ParseFailureKind(*kind);
  if (kind && !row.failed_kind) {
    return absl::DataLossError("stored failure kind is unknown: " + *kind);
  }
  return absl::OkStatus();
}

// For queries that have the cohort as h.
#define LEADLINE_FAILED                                                     \
  "AND EXISTS (SELECT 1 FROM attempt a WHERE a.cohort = h.id AND a.kind = " \
  "?) "

struct TrialRange {
  int64_t first = 1;  // cells
  int64_t last = std::numeric_limits<int64_t>::max();
  TrialId after;
};

// Null where no trial can be in it: a trial id of another sweep is before or
// after all of this one's.
std::optional<TrialRange> RangeOf(SweepId sweep,
                                  const std::optional<CellId>& cell,
                                  const std::optional<TrialId>& after) {
  TrialRange range;
  range.after = after.value_or(TrialId{{sweep, 0}, 0});
  if (range.after.cell.sweep < sweep) range.after = {{sweep, 0}, 0};
  if (range.after.cell.sweep > sweep) return std::nullopt;
  if (cell) range.first = range.last = cell->number;
  range.first = std::max(range.first, range.after.cell.number);
  return range;
}

absl::Status FindParent(Connection& connection, SweepId sweep,
                        const std::optional<CellId>& cell) {
  if (cell) {
    Query query(connection,
                "SELECT 1 FROM cell c JOIN sweep s ON s.id = c.sweep WHERE "
                "c.text = ? AND s.removed_at IS NULL",
                ToText(*cell));
    if (cell->sweep == sweep && query.Next()) return absl::OkStatus();
    return absl::NotFoundError("no cell " + ToText(*cell));
  }
  Query query(connection,
              "SELECT 1 FROM sweep WHERE id = ? AND removed_at IS NULL",
              sweep.value);
  if (query.Next()) return absl::OkStatus();
  return absl::NotFoundError("no sweep " + ToText(sweep));
}

}  // namespace

absl::StatusOr<std::vector<TrialRow>> SqliteReader::ListTrials(
    SweepId sweep, std::optional<CellId> cell, std::optional<TrialId> after,
    int64_t limit) const {
  using Rows = std::vector<TrialRow>;
  return WithConnection(
      "reading trials of " + ToText(sweep),
      [&](Connection& connection) -> absl::StatusOr<Rows> {
        if (auto found = FindParent(connection, sweep, cell); !found.ok()) {
          return found;
        }
        const auto range = RangeOf(sweep, cell, after);
        if (!range) return Rows();
        Query query(connection,
                    LEADLINE_TRIAL_ROW
                    "WHERE c.sweep = ? AND c.number BETWEEN ? AND ? "
                    "AND (c.number, t.seed_index) > (?, ?) "
                    "ORDER BY c.number, t.seed_index LIMIT ?",
                    sweep.value, range->first, range->last,
                    range->after.cell.number, range->after.seed_index, limit);
        Rows rows;
        if (auto read = ReadAll(query, rows, ReadTrialRow); !read.ok()) {
          return read;
        }
        return rows;
      });
}

absl::StatusOr<std::vector<TrialRow>> SqliteReader::ListTrialsFailed(
    FailureKind kind, SweepId sweep, std::optional<CellId> cell,
    std::optional<TrialId> after, int64_t limit) const {
  using Rows = std::vector<TrialRow>;
  return WithConnection(
      "reading failed trials of " + ToText(sweep),
      [&](Connection& connection) -> absl::StatusOr<Rows> {
        if (auto found = FindParent(connection, sweep, cell); !found.ok()) {
          return found;
        }
        const auto range = RangeOf(sweep, cell, after);
        if (!range) return Rows();
        Query query(connection,
                    LEADLINE_TRIAL_ROW
                    "WHERE c.sweep = ? AND c.number BETWEEN ? AND ? "
                    "AND (c.number, t.seed_index) > (?, ?) " LEADLINE_FAILED
                    "ORDER BY c.number, t.seed_index LIMIT ?",
                    sweep.value, range->first, range->last,
                    range->after.cell.number, range->after.seed_index,
                    std::string(Name(kind)), limit);
        Rows rows;
        if (auto read = ReadAll(query, rows, ReadTrialRow); !read.ok()) {
          return read;
        }
        return rows;
      });
}

absl::StatusOr<int64_t> SqliteReader::CountTrialsFailed(
    FailureKind kind, SweepId sweep, std::optional<CellId> cell) const {
  return WithConnection(
      "counting failed trials of " + ToText(sweep),
      [&](Connection& connection) -> absl::StatusOr<int64_t> {
        if (auto found = FindParent(connection, sweep, cell); !found.ok()) {
          return found;
        }
        const auto range = RangeOf(sweep, cell, std::nullopt);
        Query query(connection,
                    "SELECT count(*) FROM cell c JOIN trial t ON t.cell = c.id "
                    "JOIN cohort h ON h.id = t.cohort WHERE c.sweep = ? AND "
                    "c.number BETWEEN ? AND ? " LEADLINE_FAILED,
                    sweep.value, range->first, range->last,
                    std::string(Name(kind)));
        query.Next();
        int64_t count = 0;
        query.Read(count);
        return count;
      });
}

absl::StatusOr<TrialRow> SqliteReader::GetTrial(TrialId trial) const {
  return WithConnection(
      "reading trial " + ToText(trial),
      [&](Connection& connection) -> absl::StatusOr<TrialRow> {
        Query query(connection,
                    LEADLINE_TRIAL_ROW
                    "WHERE t.text = ? AND NOT EXISTS (SELECT 1 FROM sweep s "
                    "WHERE s.id = c.sweep AND s.removed_at IS NOT NULL)",
                    ToText(trial));
        if (!query.Next()) {
          return absl::NotFoundError("no trial " + ToText(trial));
        }
        TrialRow row;
        if (auto read = ReadTrialRow(query, row); !read.ok()) return read;
        return row;
      });
}

absl::StatusOr<std::vector<TrialRecord>> SqliteReader::CohortTrials(
    CohortId cohort) const {
  using Trials = std::vector<TrialRecord>;
  return WithConnection(
      "reading trials of " + ToText(cohort),
      [&](Connection& connection) -> absl::StatusOr<Trials> {
        Query query(connection,
                    "SELECT " LEADLINE_TRIAL_COLUMNS
                    " FROM cohort h JOIN trial t ON t.cohort = h.id JOIN cell "
                    "c ON c.id = t.cell WHERE h.text = ? ORDER BY t.seed_index",
                    ToText(cohort));
        Trials trials;
        if (auto read = ReadAll(query, trials, ReadTrial); !read.ok()) {
          return read;
        }
        return trials;
      });
}

absl::StatusOr<std::vector<AttemptRecord>> SqliteReader::ListAttempts(
    CohortId cohort) const {
  using Attempts = std::vector<AttemptRecord>;
  return WithConnection(
      "reading attempts of " + ToText(cohort),
      [&](Connection& connection) -> absl::StatusOr<Attempts> {
        Query query(connection,
                    "SELECT " LEADLINE_ATTEMPT_COLUMNS
                    " FROM cohort h JOIN attempt a ON a.cohort = h.id JOIN "
                    "cell c ON c.id = h.cell WHERE h.text = ? ORDER BY "
                    "a.number",
                    ToText(cohort));
        Attempts attempts;
        if (auto read = ReadAll(query, attempts, ReadAttempt); !read.ok()) {
          return read;
        }
        return attempts;
      });
}

absl::StatusOr<std::optional<ResultRecord>> SqliteReader::FindResult(
    TrialId trial) const {
  using Found = std::optional<ResultRecord>;
  return WithConnection(
      "reading the result of " + ToText(trial),
      [&](Connection& connection) -> absl::StatusOr<Found> {
        Query query(connection,
                    "SELECT h.number, r.attempt, r.validation_loss, "
                    "r.test_loss, r.best_validation_loss, r.best_step, r.unit, "
                    "r.steps, r.tokens, r.seconds, r.peak_bytes, r.parameters, "
                    "r.determinism "
                    "FROM trial t JOIN cohort h ON h.id = t.cohort JOIN result "
                    "r ON r.trial = t.id WHERE t.text = ?",
                    ToText(trial));
        if (!query.Next()) return Found();
        ResultRecord result;
        std::string determinism;
        result.trial = trial;
        result.attempt.cohort.cell = trial.cell;
        query.Read(result.attempt.cohort.number, result.attempt.number,
                   result.validation_loss, result.test_loss,
                   result.best_validation_loss, result.best_step, result.unit,
                   result.steps, result.tokens, result.seconds,
                   result.peak_bytes, result.parameters, determinism);
        result.determinism =
            ParseDeterminism(determinism).value_or(Determinism::kUnknown);
        return Found(std::move(result));
      });
}

}  // namespace leadline::storage::sqlite
