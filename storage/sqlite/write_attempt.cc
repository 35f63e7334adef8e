// The life of an attempt.

#include "storage/change_checks.h"
#include "storage/sqlite/change_writer.h"
#include "storage/sqlite/json_array.h"

namespace leadline::storage::sqlite {
namespace {

int64_t Microseconds(WallTime time) { return time.time_since_epoch().count(); }

}  // namespace

bool ChangeWriter::IsLive(int64_t cohort, int64_t number) {
  return Query(connection_,
               "SELECT 1 FROM attempt WHERE cohort = ? AND number = ? AND "
               "outcome = 'live'",
               cohort, number)
      .Next();
}

absl::StatusOr<int64_t> ChangeWriter::LiveCohort(const AttemptKey& attempt) {
  const std::optional<int64_t> cohort = ids_.Cohort(attempt.cohort);
  if (!cohort || !IsLive(*cohort, attempt.number)) return NotLive(attempt);
  return *cohort;
}

void ChangeWriter::Insert(const AttemptRecord& attempt, int64_t cohort) {
  Query(connection_,
        "INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, NULL, 'live', NULL, ?, ?, '')",
        cohort, attempt.key.number, attempt.node, attempt.instance,
        attempt.device, WordsToJson(attempt.devices), attempt.numerics,
        attempt.version, attempt.commit, attempt.libraries,
        attempt.dataset_path, attempt.threads, attempt.parameters,
        attempt.last_sequence, Microseconds(attempt.started_at),
        attempt.message, attempt.step)
      .Finish();
  for (size_t rank = 0; rank < attempt.ranks.size(); ++rank) {
    const RankRecord& one = attempt.ranks[rank];
    Query(connection_, "INSERT INTO attempt_rank VALUES (?, ?, ?, ?, ?, ?)",
          cohort, attempt.key.number, static_cast<int64_t>(rank), one.node,
          WordsToJson(one.devices), one.pid)
        .Finish();
  }
}

absl::Status ChangeWriter::On(const StartAttempt& change) {
  const AttemptKey& key = change.attempt.key;
  if (absl::Status fresh = CheckFresh(change.attempt); !fresh.ok()) {
    return fresh;
  }
  const std::optional<int64_t> cohort = ids_.Cohort(key.cohort);
  if (!cohort) return absl::NotFoundError("no cohort " + ToText(key.cohort));
  int64_t last = 0;
  {
    Query query(connection_, "SELECT attempts FROM cohort WHERE id = ?",
                *cohort);
    query.Next();
    query.Read(last);
  }
  if (absl::Status next = CheckNext(key, last, IsLive(*cohort, last));
      !next.ok()) {
    return next;
  }
  Query(connection_, "UPDATE cohort SET attempts = ? WHERE id = ?", key.number,
        *cohort)
      .Finish();
  Insert(change.attempt, *cohort);
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const DescribeAttempt& change) {
  const AttemptRecord& said = change.attempt;
  const absl::StatusOr<int64_t> cohort = LiveCohort(said.key);
  if (!cohort.ok()) return cohort.status();
  Query(connection_,
        "UPDATE attempt SET device = coalesce(nullif(?, ''), device), "
        "numerics = coalesce(nullif(?, ''), numerics), "
        "version = coalesce(nullif(?, ''), version), "
        "commit_id = coalesce(nullif(?, ''), commit_id), "
        "libraries = coalesce(nullif(?, ''), libraries), "
        "dataset_path = coalesce(nullif(?, ''), dataset_path), "
        "threads = coalesce(nullif(?, 0), threads), "
        "parameters = coalesce(nullif(?, 0), parameters) "
        "WHERE cohort = ? AND number = ?",
        said.device, said.numerics, said.version, said.commit, said.libraries,
        said.dataset_path, said.threads, said.parameters, *cohort,
        said.key.number)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const SetRankPids& change) {
  const absl::StatusOr<int64_t> cohort = LiveCohort(change.attempt);
  if (!cohort.ok()) return cohort.status();
  for (const SetRankPids::Pid& said : change.pids) {
    const int64_t rows =
        Query(connection_,
              "UPDATE attempt_rank SET pid = ? WHERE cohort = ? AND number = ? "
              "AND rank = ?",
              said.pid, *cohort, change.attempt.number, said.rank)
            .Finish();
    if (rows == 0) return NoSuchRank(change.attempt, said.rank);
  }
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const EndAttempt& change) {
  if (absl::Status end = CheckEnd(change); !end.ok()) return end;
  const absl::StatusOr<int64_t> cohort = LiveCohort(change.attempt);
  if (!cohort.ok()) return cohort.status();
  std::optional<std::string> kind;
  if (change.kind) kind = Name(*change.kind);
  Query(connection_,
        "UPDATE attempt SET outcome = ?, kind = ?, message = ?, ended_at = ? "
        "WHERE cohort = ? AND number = ?",
        std::string(Name(change.outcome)), kind, change.message,
        Microseconds(change.at), *cohort, change.attempt.number)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const AskToStop& change) {
  const absl::StatusOr<int64_t> cohort = LiveCohort(change.attempt);
  if (!cohort.ok()) return cohort.status();
  Query(connection_,
        "UPDATE attempt SET stop_reason = ? WHERE cohort = ? AND number = ? "
        "AND stop_reason = ''",
        change.reason, *cohort, change.attempt.number)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const Acknowledge& change) {
  const absl::StatusOr<int64_t> cohort = LiveCohort(change.attempt);
  if (!cohort.ok()) return cohort.status();
  Query(connection_,
        "UPDATE attempt SET last_sequence = max(last_sequence, ?), "
        "step = max(step, ?) WHERE cohort = ? AND number = ?",
        change.sequence, change.step, *cohort, change.attempt.number)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const KeepOrphan& change) {
  const OrphanRecord& orphan = change.record;
  const std::optional<int64_t> cohort = ids_.Cohort(orphan.attempt.cohort);
  if (!cohort || !Query(connection_,
                        "SELECT 1 FROM attempt WHERE cohort = ? AND number = ?",
                        *cohort, orphan.attempt.number)
                      .Next()) {
    return absl::NotFoundError("there never was an attempt " +
                               ToText(orphan.attempt));
  }
  Query(connection_,
        "INSERT INTO orphan VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        *cohort, orphan.attempt.number, orphan.sequence, orphan.text)
      .Finish();
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
