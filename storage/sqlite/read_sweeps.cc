// Sweeps and their cells.

#include <limits>
#include <utility>

#include "storage/result_metric.h"
#include "storage/sqlite/read_all.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/sqlite_reader.h"
#include "storage/sqlite/sweep_row.h"

namespace leadline::storage::sqlite {
namespace {

// Adds the values of the cells' trials; `cells` are ordered by number.
absl::Status AddValues(Connection& connection, const std::string& metric,
                       std::vector<CellValues>& cells) {
  if (cells.empty()) return absl::OkStatus();
  Query query(connection,
              "SELECT c.number, t.seed_index, t.seed, t.state, "
              "CASE ? WHEN 'validation_loss' THEN r.validation_loss "
              "WHEN 'test_loss' THEN r.test_loss "
              "ELSE r.best_validation_loss END, coalesce(a.numerics, '') "
              "FROM cell c JOIN trial t ON t.cell = c.id "
              "LEFT JOIN result r ON r.trial = t.id "
              "LEFT JOIN attempt a ON a.cohort = t.cohort AND a.number = "
              "r.attempt WHERE c.sweep = ? AND c.number BETWEEN ? AND ? "
              "ORDER BY c.number, t.seed_index",
              metric, cells.front().cell.id.sweep.value,
              cells.front().cell.id.number, cells.back().cell.id.number);
  auto cell = cells.begin();
  while (query.Next()) {
    int64_t number = 0;
    SeedValue one;
    std::string word;
    std::optional<double> value;
    query.Read(number, one.trial.seed_index, one.seed, word, value,
               one.numerics);
    while (cell->cell.id.number != number) ++cell;
    one.trial.cell = cell->cell.id;
    const auto state = ParseTrialState(word);
    if (!state) {
      return absl::DataLossError("stored state of trial " + ToText(one.trial) +
                                 " is unknown: " + word);
    }
    ++cell->planned;
    if (*state == TrialState::kDiverged) ++cell->diverged;
    if (*state == TrialState::kFailed) ++cell->failed;
    if (*state == TrialState::kSucceeded && value) {
      one.value = *value;
      cell->values.push_back(std::move(one));
    }
  }
  return absl::OkStatus();
}

absl::Status FindSweep(Connection& connection, SweepId sweep) {
  Query query(connection,
              "SELECT 1 FROM sweep WHERE id = ? AND removed_at IS NULL",
              sweep.value);
  if (query.Next()) return absl::OkStatus();
  return absl::NotFoundError("no sweep " + ToText(sweep));
}

}  // namespace

absl::StatusOr<std::vector<SweepRow>> SqliteReader::ListSweeps(
    std::optional<SweepId> before, int64_t limit) const {
  using Rows = std::vector<SweepRow>;
  return WithConnection(
      "reading sweeps", [&](Connection& connection) -> absl::StatusOr<Rows> {
        const int64_t below =
            before ? before->value : std::numeric_limits<int64_t>::max();
        Query query(connection,
                    "SELECT " LEADLINE_SWEEP_COLUMNS LEADLINE_SWEEP_COUNTS
                    " FROM sweep s WHERE s.id < ? AND s.removed_at IS NULL "
                    "ORDER BY s.id DESC LIMIT ?",
                    below, limit);
        Rows rows;
        if (auto read = ReadAll(query, rows, ReadSweepRow); !read.ok()) {
          return read;
        }
        return rows;
      });
}

absl::StatusOr<std::array<int64_t, kTrialStates.size()>>
SqliteReader::CountTrials() const {
  using Counts = std::array<int64_t, kTrialStates.size()>;
  return WithConnection(
      "counting trials", [](Connection& connection) -> absl::StatusOr<Counts> {
        Query query(connection,
                    "SELECT state, count(*) FROM trial WHERE sweep NOT IN "
                    "(SELECT id FROM sweep WHERE removed_at IS NOT NULL) "
                    "GROUP BY state");
        Counts counts{};
        while (query.Next()) {
          std::string word;
          int64_t count = 0;
          query.Read(word, count);
          const std::optional<TrialState> state = ParseTrialState(word);
          if (!state) {
            return absl::DataLossError("stored state is unknown: " + word);
          }
          counts[static_cast<size_t>(*state)] = count;
        }
        return counts;
      });
}

absl::StatusOr<int64_t> SqliteReader::CountSweeps() const {
  return WithConnection(
      "counting sweeps",
      [&](Connection& connection) -> absl::StatusOr<int64_t> {
        Query query(connection,
                    "SELECT count(*) FROM sweep WHERE removed_at IS NULL");
        query.Next();
        int64_t count = 0;
        query.Read(count);
        return count;
      });
}

absl::StatusOr<SweepRow> SqliteReader::GetSweep(SweepId sweep) const {
  return WithConnection(
      "reading sweep " + ToText(sweep),
      [&](Connection& connection) -> absl::StatusOr<SweepRow> {
        Query query(connection,
                    "SELECT " LEADLINE_SWEEP_COLUMNS LEADLINE_SWEEP_COUNTS
                    " FROM sweep s WHERE s.id = ? AND s.removed_at IS NULL",
                    sweep.value);
        if (!query.Next()) {
          return absl::NotFoundError("no sweep " + ToText(sweep));
        }
        SweepRow row;
        if (auto read = ReadSweepRow(query, row); !read.ok()) return read;
        return row;
      });
}

absl::StatusOr<std::vector<SweepRecord>> SqliteReader::FindByName(
    const std::string& prefix, int64_t limit) const {
  using Found = std::vector<SweepRecord>;
  return WithConnection(
      "reading sweeps", [&](Connection& connection) -> absl::StatusOr<Found> {
        // No text in UTF-8 has the byte 0xff, so this ends the range.
        Query query(connection,
                    "SELECT " LEADLINE_SWEEP_COLUMNS
                    " FROM sweep s WHERE s.name >= ? AND s.name < ? AND "
                    "s.removed_at IS NULL ORDER BY "
                    "s.id DESC LIMIT ?",
                    prefix, prefix + '\xff', limit);
        Found found;
        if (auto read = ReadAll(query, found, ReadSweep); !read.ok()) {
          return read;
        }
        return found;
      });
}

absl::StatusOr<std::vector<CellValues>> SqliteReader::ListCells(
    SweepId sweep, const std::string& metric, int64_t after,
    int64_t limit) const {
  if (!FindResultMetric(metric)) return NoSuchMetric(metric);
  using Cells = std::vector<CellValues>;
  return WithConnection(
      "reading cells of " + ToText(sweep),
      [&](Connection& connection) -> absl::StatusOr<Cells> {
        if (auto found = FindSweep(connection, sweep); !found.ok()) {
          return found;
        }
        Cells cells;
        Query query(connection,
                    "SELECT " LEADLINE_CELL_COLUMNS
                    " FROM cell c WHERE c.sweep = ? AND c.number > ? "
                    "ORDER BY c.number LIMIT ?",
                    sweep.value, after, limit);
        const auto read_cell = [](Query& row, CellValues& values) {
          return ReadCell(row, values.cell);
        };
        if (auto read = ReadAll(query, cells, read_cell); !read.ok()) {
          return read;
        }
        if (auto read = AddValues(connection, metric, cells); !read.ok()) {
          return read;
        }
        return cells;
      });
}

absl::StatusOr<std::vector<SweepId>> SqliteReader::RemovedAmong(
    const std::vector<SweepId>& asked) const {
  using Removed = std::vector<SweepId>;
  std::string numbers;
  for (const SweepId sweep : asked) {
    numbers += (numbers.empty() ? "[" : ",") + std::to_string(sweep.value);
  }
  numbers += numbers.empty() ? "[]" : "]";
  return WithConnection(
      "reading removed sweeps",
      [&](Connection& connection) -> absl::StatusOr<Removed> {
        Query query(connection,
                    "SELECT id FROM retired_sweep WHERE id IN (SELECT value "
                    "FROM json_each(?)) ORDER BY id",
                    numbers);
        Removed removed;
        while (query.Next()) query.Read(removed.emplace_back().value);
        return removed;
      });
}

}  // namespace leadline::storage::sqlite
