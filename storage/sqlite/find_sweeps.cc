// Lists of sweeps by what people look for, and how much a sweep holds.

#include <limits>
#include <string>
#include <utility>

#include "storage/sqlite/json_array.h"
#include "storage/sqlite/read_all.h"
#include "storage/sqlite/sqlite_reader.h"
#include "storage/sqlite/sweep_row.h"

namespace leadline::storage::sqlite {
namespace {

// 1 user, 2 part of the name, 3 since, 4 archived (0 not, 1 alone, 2 too),
// 5 states, 6 tags, 7 kind of failure; null where it does not matter.
#define LEADLINE_SWEEP_FILTER                                                 \
  " FROM sweep s WHERE s.removed_at IS NULL AND (?1 IS NULL OR s.user = ?1) " \
  "AND (?2 IS NULL OR instr(s.name, ?2) > 0) AND (?3 IS NULL OR "             \
  "s.submitted_at >= ?3) AND (?4 = 2 OR (s.archived_at IS NOT NULL) = ?4) "   \
  "AND (?5 IS NULL OR s.state IN (SELECT value FROM json_each(?5))) AND NOT " \
  "EXISTS (SELECT 1 FROM json_each(?6) w WHERE w.value NOT IN (SELECT value " \
  "FROM json_each(s.tags))) AND (?7 IS NULL OR s.id IN (SELECT c.sweep FROM " \
  "attempt a JOIN cohort h ON h.id = a.cohort JOIN cell c ON c.id = h.cell "  \
  "WHERE a.kind IS NOT NULL AND a.kind = ?7))"

struct Values {
  std::optional<std::string> user;
  std::optional<std::string> name;
  std::optional<int64_t> since;
  int64_t archived = 0;
  std::optional<std::string> states;
  std::string tags;
  std::optional<std::string> kind;
};

Values ValuesOf(const SweepFilter& filter) {
  Values values;
  if (!filter.user.empty()) values.user = filter.user;
  if (!filter.name.empty()) values.name = filter.name;
  if (filter.since) values.since = filter.since->time_since_epoch().count();
  values.archived = static_cast<int64_t>(filter.archived);
  std::vector<std::string> states;
  for (const SweepState state : filter.states) {
    states.emplace_back(Name(state));
  }
  if (!states.empty()) values.states = WordsToJson(states);
  values.tags = WordsToJson(filter.tags);
  if (filter.failed_kind) values.kind = Name(*filter.failed_kind);
  return values;
}

}  // namespace

absl::StatusOr<std::vector<SweepRow>> SqliteReader::FindSweeps(
    const SweepFilter& filter, std::optional<SweepId> before,
    int64_t limit) const {
  using Rows = std::vector<SweepRow>;
  const Values values = ValuesOf(filter);
  return WithConnection(
      "reading sweeps", [&](Connection& connection) -> absl::StatusOr<Rows> {
        const int64_t below =
            before ? before->value : std::numeric_limits<int64_t>::max();
        Query query(connection,
                    "SELECT " LEADLINE_SWEEP_COLUMNS LEADLINE_SWEEP_COUNTS
                        LEADLINE_SWEEP_FILTER
                    " AND s.id < ?8 ORDER BY s.id DESC LIMIT ?9",
                    values.user, values.name, values.since, values.archived,
                    values.states, values.tags, values.kind, below, limit);
        Rows rows;
        if (auto read = ReadAll(query, rows, ReadSweepRow); !read.ok()) {
          return read;
        }
        return rows;
      });
}

absl::StatusOr<int64_t> SqliteReader::CountSweeps(
    const SweepFilter& filter) const {
  const Values values = ValuesOf(filter);
  return WithConnection(
      "counting sweeps",
      [&](Connection& connection) -> absl::StatusOr<int64_t> {
        Query query(connection, "SELECT count(*)" LEADLINE_SWEEP_FILTER,
                    values.user, values.name, values.since, values.archived,
                    values.states, values.tags, values.kind);
        query.Next();
        int64_t count = 0;
        query.Read(count);
        return count;
      });
}

// Bytes are an estimate: what the rows take in the file, without the indices.
#define LEADLINE_CONTENTS(trials)                                              \
  "SELECT (SELECT count(*) FROM points WHERE trial IN (" trials                \
  ")), (SELECT count(*) FROM routing_step WHERE trial IN (" trials             \
  ")), coalesce((SELECT sum(length(weights) + 20) FROM router_map WHERE "      \
  "trial IN (" trials                                                          \
  ")), 0) + coalesce((SELECT sum(length(numbers) + 20) FROM router_statistic " \
  "WHERE trial IN (" trials                                                    \
  ")), 0) + coalesce((SELECT sum(length(losses) + 20) FROM window_losses "     \
  "WHERE trial IN (" trials ")), 0)"

constexpr int64_t kPointBytes = 22;

absl::StatusOr<Contents> SqliteReader::CountContents(SweepId sweep) const {
  return WithConnection(
      "counting what " + ToText(sweep) + " holds",
      [&](Connection& connection) -> absl::StatusOr<Contents> {
        Contents contents;
        Query query(
            connection,
            LEADLINE_CONTENTS("SELECT id FROM trial WHERE sweep = ?1")
            ", (SELECT count(*) FROM trial WHERE sweep = ?1), (SELECT count(*) "
            "FROM cell c JOIN cohort h ON h.cell = c.id JOIN attempt a ON "
            "a.cohort = h.id WHERE c.sweep = ?1)",
            sweep.value);
        query.Next();
        query.Read(contents.points, contents.routings, contents.bytes,
                   contents.trials, contents.attempts);
        contents.bytes += kPointBytes * contents.points;
        Query nodes(connection,
                    "SELECT DISTINCT r.node FROM cell c JOIN cohort h ON "
                    "h.cell = c.id JOIN attempt_rank r ON r.cohort = h.id "
                    "WHERE c.sweep = ? ORDER BY r.node",
                    sweep.value);
        while (nodes.Next()) nodes.Read(contents.nodes.emplace_back());
        return contents;
      });
}

absl::StatusOr<Contents> SqliteReader::CountContents(TrialId trial) const {
  return WithConnection(
      "counting what " + ToText(trial) + " holds",
      [&](Connection& connection) -> absl::StatusOr<Contents> {
        Contents contents;
        Query query(connection,
                    LEADLINE_CONTENTS("SELECT id FROM trial WHERE text = ?1"),
                    ToText(trial));
        query.Next();
        query.Read(contents.points, contents.routings, contents.bytes);
        contents.bytes += kPointBytes * contents.points;
        return contents;
      });
}

}  // namespace leadline::storage::sqlite
