#include "storage/sqlite/purge.h"

#include <optional>

namespace leadline::storage::sqlite {
namespace {

/// Looking for what there is of a trial or a cohort takes time, too: as much as
/// deleting so many rows, where there is nothing.
constexpr int64_t kLookCosts = 7;

class Purger {
 public:
  Purger(Connection& connection, int64_t most_rows)
      : connection_(connection), left_(most_rows) {}

  bool Run(const PurgeLimits& limits) {
    Delete(
        "DELETE FROM answer WHERE request IN (SELECT request FROM answer "
        "WHERE at < ? LIMIT ?)",
        Microseconds(limits.answers_before));
    if (limits.archived_before) ThinArchived(*limits.archived_before);
    while (left_ > 0 && DropOneTrial()) {
    }
    while (left_ > 0 && RemoveSomeOfASweep()) {
    }
    return left_ <= 0;
  }

 private:
  static int64_t Microseconds(WallTime time) {
    return time.time_since_epoch().count();
  }

  std::optional<int64_t> First(const char* sql) {
    Query query(connection_, sql);
    return Read(query);
  }
  std::optional<int64_t> First(const char* sql, int64_t of) {
    Query query(connection_, sql, of);
    return Read(query);
  }
  static std::optional<int64_t> Read(Query& query) {
    if (!query.Next()) return std::nullopt;
    int64_t row = 0;
    query.Read(row);
    return row;
  }

  /// `sql` deletes at most so many rows of `of`.
  void Delete(const char* sql, int64_t of) {
    if (left_ <= 0) return;
    left_ -= Query(connection_, sql, of, left_).Finish();
  }
  void DeleteOne(const char* sql, int64_t row) {
    left_ -= Query(connection_, sql, row).Finish();
  }

  /// One sweep a call: its trials are noted as dropped.
  void ThinArchived(WallTime before) {
    const auto sweep = First(
        "SELECT id FROM sweep WHERE archived_at < ? AND thinned = 0 AND "
        "removed_at IS NULL LIMIT 1",
        Microseconds(before));
    if (!sweep) return;
    left_ -= Query(connection_,
                   "INSERT OR IGNORE INTO dropped_trial SELECT id FROM trial "
                   "WHERE sweep = ?",
                   *sweep)
                 .Finish();
    DeleteOne("UPDATE sweep SET thinned = 1 WHERE id = ?", *sweep);
  }

  void DeleteMeasurements(int64_t trial) {
    Delete(
        "DELETE FROM points WHERE (trial, metric, step) IN (SELECT trial, "
        "metric, step FROM points WHERE trial = ? LIMIT ?)",
        trial);
    Delete(
        "DELETE FROM router_map WHERE (trial, step, router) IN (SELECT "
        "trial, step, router FROM router_map WHERE trial = ? LIMIT ?)",
        trial);
    Delete(
        "DELETE FROM router_statistic WHERE (trial, step, metric) IN "
        "(SELECT trial, step, metric FROM router_statistic WHERE trial = ? "
        "LIMIT ?)",
        trial);
    Delete(
        "DELETE FROM routing_step WHERE (trial, step) IN (SELECT trial, "
        "step FROM routing_step WHERE trial = ? LIMIT ?)",
        trial);
    Delete(
        "DELETE FROM window_losses WHERE (trial, split, step) IN (SELECT "
        "trial, split, step FROM window_losses WHERE trial = ? LIMIT ?)",
        trial);
  }

  /// False if there is none.
  bool DropOneTrial() {
    const auto trial = First("SELECT trial FROM dropped_trial LIMIT 1");
    if (!trial) return false;
    DeleteMeasurements(*trial);
    if (left_ > 0) {
      DeleteOne("DELETE FROM dropped_trial WHERE trial = ?", *trial);
      left_ -= kLookCosts;
    }
    return true;
  }

  bool RemoveSomeOfASweep() {
    const auto sweep = First(
        "SELECT id FROM sweep WHERE removed_at IS NOT NULL ORDER BY id LIMIT "
        "1");
    if (!sweep) return false;
    if (const auto trial =
            First("SELECT id FROM trial WHERE sweep = ? LIMIT 1", *sweep)) {
      RemoveTrial(*trial);
    } else if (const auto cohort =
                   First("SELECT h.id FROM cell c JOIN cohort h ON h.cell = "
                         "c.id WHERE c.sweep = ? LIMIT 1",
                         *sweep)) {
      RemoveCohort(*cohort);
    } else if (First("SELECT id FROM cell WHERE sweep = ? LIMIT 1", *sweep)) {
      Delete(
          "DELETE FROM cell WHERE id IN (SELECT id FROM cell WHERE sweep = "
          "? LIMIT ?)",
          *sweep);
    } else {
      DeleteOne("DELETE FROM sweep WHERE id = ?", *sweep);
    }
    return true;
  }

  void RemoveTrial(int64_t trial) {
    DeleteMeasurements(trial);
    if (left_ <= 0) return;
    DeleteOne("DELETE FROM result WHERE trial = ?", trial);
    DeleteOne("DELETE FROM dropped_trial WHERE trial = ?", trial);
    DeleteOne("DELETE FROM trial WHERE id = ?", trial);
    left_ -= kLookCosts;
  }

  void RemoveCohort(int64_t cohort) {
    Delete(
        "DELETE FROM orphan WHERE (cohort, number, sequence) IN (SELECT "
        "cohort, number, sequence FROM orphan WHERE cohort = ? LIMIT ?)",
        cohort);
    Delete(
        "DELETE FROM attempt_rank WHERE (cohort, number, rank) IN (SELECT "
        "cohort, number, rank FROM attempt_rank WHERE cohort = ? LIMIT ?)",
        cohort);
    Delete(
        "DELETE FROM attempt WHERE (cohort, number) IN (SELECT cohort, "
        "number FROM attempt WHERE cohort = ? LIMIT ?)",
        cohort);
    if (left_ <= 0) return;
    DeleteOne("DELETE FROM cohort WHERE id = ?", cohort);
    left_ -= kLookCosts;
  }

  Connection& connection_;
  int64_t left_;
};

}  // namespace

bool PurgeSome(Connection& connection, const PurgeLimits& limits) {
  return Purger(connection, limits.most_rows).Run(limits);
}

}  // namespace leadline::storage::sqlite
