#include "storage/sqlite/sqlite_store.h"

#include <utility>

#include "storage/sqlite/load_contents.h"
#include "storage/sqlite/purge.h"
#include "storage/sqlite/read_all.h"
#include "storage/sqlite/rows.h"

namespace leadline::storage::sqlite {

absl::Status SqliteStore::WriteAll(std::span<const Change> changes) {
  // Reading before writing, so the write lock is taken at once: a read lock
  // cannot always become one.
  connection_->Execute("BEGIN IMMEDIATE");
  for (const Change& change : changes) {
    if (absl::Status written = writer_.Write(change); !written.ok()) {
      return written;
    }
  }
  connection_->Execute("COMMIT");
  return absl::OkStatus();
}

absl::Status SqliteStore::Commit(std::span<const Change> changes) {
  if (changes.empty()) return absl::OkStatus();
  const std::lock_guard lock(mutex_);
  absl::Status written =
      Run("writing the database", [&] { return WriteAll(changes); });
  if (!written.ok()) {
    connection_->Rollback();
    writer_.Forget();
  } else {
    writer_.Keep();
  }
  log_.AfterCommit();
  return written;
}

PointCounts SqliteStore::CountPoints() const {
  const std::lock_guard lock(mutex_);
  return writer_.points();
}

absl::StatusOr<std::vector<SweepContents>> SqliteStore::LoadUnfinished() const {
  const std::lock_guard lock(mutex_);
  return Run("reading unfinished sweeps",
             [&] { return LoadAllUnfinished(*connection_); });
}

absl::StatusOr<std::vector<NodeRecord>> SqliteStore::LoadNodes() const {
  const std::lock_guard lock(mutex_);
  using Nodes = std::vector<NodeRecord>;
  return Run("reading nodes", [&]() -> absl::StatusOr<Nodes> {
    Query query(*connection_,
                "SELECT " LEADLINE_NODE_COLUMNS " FROM node n ORDER BY n.name");
    Nodes nodes;
    if (auto read = ReadAll(query, nodes, ReadNode); !read.ok()) return read;
    return nodes;
  });
}

absl::StatusOr<SweepContents> SqliteStore::LoadSweep(SweepId sweep) const {
  const std::lock_guard lock(mutex_);
  return Run("reading sweep " + ToText(sweep),
             [&] { return LoadOne(*connection_, sweep); });
}

absl::StatusOr<SweepContents> SqliteStore::LoadCells(SweepId sweep,
                                                     int64_t first,
                                                     int64_t count) const {
  const std::lock_guard lock(mutex_);
  return Run("reading sweep " + ToText(sweep), [&] {
    return LoadSome(*connection_, sweep, {first, first + count - 1});
  });
}

absl::StatusOr<std::optional<SweepRecord>> SqliteStore::FindSweep(
    SweepId sweep) const {
  const std::lock_guard lock(mutex_);
  using Found = std::optional<SweepRecord>;
  return Run("reading sweep " + ToText(sweep), [&]() -> absl::StatusOr<Found> {
    Query query(*connection_,
                "SELECT " LEADLINE_SWEEP_COLUMNS
                " FROM sweep s WHERE s.id = ? AND s.removed_at IS NULL",
                sweep.value);
    if (!query.Next()) return Found();
    SweepRecord record;
    if (auto read = ReadSweep(query, record); !read.ok()) return read;
    return Found(std::move(record));
  });
}

absl::StatusOr<bool> SqliteStore::Purge(const PurgeLimits& limits) {
  const std::lock_guard lock(mutex_);
  absl::StatusOr<bool> more =
      Run("removing rows", [&]() -> absl::StatusOr<bool> {
        connection_->Execute("BEGIN IMMEDIATE");
        const bool left = PurgeSome(*connection_, limits);
        connection_->Execute("COMMIT");
        return left;
      });
  if (!more.ok()) connection_->Rollback();
  // Keys it remembers may be of rows that have gone.
  writer_.Forget();
  log_.AfterCommit();
  return more;
}

absl::StatusOr<SweepId> SqliteStore::NextSweepId() const {
  const std::lock_guard lock(mutex_);
  return Run("reading sweeps", [&]() -> absl::StatusOr<SweepId> {
    Query query(*connection_,
                "SELECT max(coalesce((SELECT max(id) FROM sweep), 0), "
                "coalesce((SELECT max(id) FROM retired_sweep), 0)) + 1");
    query.Next();
    SweepId next;
    query.Read(next.value);
    return next;
  });
}

absl::StatusOr<std::optional<SweepId>> SqliteStore::FindEqualSweep(
    const std::string& name, const std::string& canonical_hash) const {
  const std::lock_guard lock(mutex_);
  using Found = std::optional<SweepId>;
  return Run("reading sweeps", [&]() -> absl::StatusOr<Found> {
    Query query(*connection_,
                "SELECT id FROM sweep WHERE name = ? AND canonical_hash = ? "
                "AND removed_at IS NULL ORDER BY id DESC LIMIT 1",
                name, canonical_hash);
    if (!query.Next()) return Found();
    SweepId found;
    query.Read(found.value);
    return Found(found);
  });
}

absl::StatusOr<std::optional<std::string>> SqliteStore::FindAnswer(
    const std::string& request_id) const {
  const std::lock_guard lock(mutex_);
  using Found = std::optional<std::string>;
  return Run("reading answers", [&]() -> absl::StatusOr<Found> {
    Query query(*connection_, "SELECT answer FROM answer WHERE request = ?",
                request_id);
    if (!query.Next()) return Found();
    Found answer;
    query.Read(answer.emplace());
    return answer;
  });
}

}  // namespace leadline::storage::sqlite
