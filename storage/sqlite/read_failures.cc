// What failed, ended or came too late.

#include <algorithm>
#include <utility>

#include "storage/sqlite/read_all.h"
#include "storage/sqlite/rows.h"
#include "storage/sqlite/sqlite_reader.h"

namespace leadline::storage::sqlite {
namespace {

absl::Status ReadFailure(Query& query, FailureCount& count) {
  std::string kind;
  query.Read(kind, count.attempts, count.trials);
  const auto parsed = ParseFailureKind(kind);
  if (!parsed) {
    return absl::DataLossError("stored failure kind is unknown: " + kind);
  }
  count.kind = *parsed;
  return absl::OkStatus();
}

absl::Status ReadEnded(Query& query, EndedGroup& group) {
  std::string state;
  int64_t began = 0;
  int64_t row = 0;
  CellId& cell = group.first.cell;
  query.Read(state, group.reason, began, group.trials, cell.sweep.value,
             cell.number, group.first.seed_index, row);
  const auto parsed = ParseTrialState(state);
  if (!parsed) {
    return absl::DataLossError("stored state is unknown: " + state);
  }
  group.state = *parsed;
  group.began = began != 0;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::map<int64_t, int64_t>> SqliteReader::CohortOrphans(
    CohortId cohort) const {
  using Counts = std::map<int64_t, int64_t>;
  return WithConnection(
      "counting orphans of " + ToText(cohort),
      [&](Connection& connection) -> absl::StatusOr<Counts> {
        Query query(connection,
                    "SELECT o.number, count(*) FROM cohort h JOIN orphan o ON "
                    "o.cohort = h.id WHERE h.text = ? GROUP BY o.number",
                    ToText(cohort));
        Counts counts;
        while (query.Next()) {
          int64_t number = 0;
          int64_t records = 0;
          query.Read(number, records);
          counts[number] = records;
        }
        return counts;
      });
}

absl::StatusOr<OrphanCount> SqliteReader::SweepOrphans(SweepId sweep) const {
  return WithConnection(
      "counting orphans of " + ToText(sweep),
      [&](Connection& connection) -> absl::StatusOr<OrphanCount> {
        Query query(connection,
                    "SELECT count(*), coalesce(sum(records), 0) FROM (SELECT "
                    "count(*) AS records FROM cell c JOIN cohort h ON h.cell = "
                    "c.id JOIN orphan o ON o.cohort = h.id WHERE c.sweep = ? "
                    "GROUP BY o.cohort, o.number)",
                    sweep.value);
        OrphanCount count;
        query.Next();
        query.Read(count.attempts, count.records);
        return count;
      });
}

absl::StatusOr<std::vector<FailureCount>> SqliteReader::CountFailures(
    SweepId sweep) const {
  using Counts = std::vector<FailureCount>;
  return WithConnection(
      "counting failures of " + ToText(sweep),
      [&](Connection& connection) -> absl::StatusOr<Counts> {
        Query query(connection,
                    "SELECT kind, sum(attempts), sum(trials) FROM (SELECT "
                    "a.kind AS kind, count(*) AS attempts, (SELECT count(*) "
                    "FROM trial t WHERE t.cohort = h.id) AS trials FROM cell c "
                    "JOIN cohort h ON h.cell = c.id JOIN attempt a ON a.cohort "
                    "= h.id WHERE c.sweep = ? AND a.kind IS NOT NULL GROUP BY "
                    "a.kind, h.id) GROUP BY kind",
                    sweep.value);
        Counts counts;
        if (auto read = ReadAll(query, counts, ReadFailure); !read.ok()) {
          return read;
        }
        std::sort(counts.begin(), counts.end(),
                  [](const auto& a, const auto& b) { return a.kind < b.kind; });
        return counts;
      });
}

absl::StatusOr<std::vector<EndedGroup>> SqliteReader::ListEnded(
    SweepId sweep, int64_t limit) const {
  using Groups = std::vector<EndedGroup>;
  return WithConnection(
      "reading how trials of " + ToText(sweep) + " ended",
      [&](Connection& connection) -> absl::StatusOr<Groups> {
        // Beside one min, SQLite takes the other columns from its row.
        Query query(connection,
                    "SELECT t.state, t.reason, h.attempts > 0 AS began, "
                    "count(*) AS trials, c.sweep, c.number, t.seed_index, "
                    "min(t.id) AS first FROM trial t JOIN cohort h ON h.id = "
                    "t.cohort JOIN cell c ON c.id = t.cell WHERE t.sweep = ? "
                    "AND t.state IN ('failed', 'cancelled', 'diverged') "
                    "GROUP BY t.state, t.reason, began ORDER BY trials DESC, "
                    "first LIMIT ?",
                    sweep.value, limit);
        Groups groups;
        if (auto read = ReadAll(query, groups, ReadEnded); !read.ok()) {
          return read;
        }
        return groups;
      });
}

}  // namespace leadline::storage::sqlite
