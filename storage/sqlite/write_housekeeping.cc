// What people say of sweeps, and what they remove.

#include "storage/change_checks.h"
#include "storage/sqlite/change_writer.h"
#include "storage/sqlite/json_array.h"

namespace leadline::storage::sqlite {
namespace {

int64_t Microseconds(WallTime time) { return time.time_since_epoch().count(); }

}  // namespace

absl::StatusOr<SweepState> ChangeWriter::StateOf(SweepId sweep) {
  Query query(connection_,
              "SELECT state FROM sweep WHERE id = ? AND removed_at IS NULL",
              sweep.value);
  if (!query.Next()) return absl::NotFoundError("no sweep " + ToText(sweep));
  std::string word;
  query.Read(word);
  const std::optional<SweepState> state = ParseSweepState(word);
  if (!state) return absl::DataLossError("stored state is unknown: " + word);
  return *state;
}

absl::Status ChangeWriter::On(const DescribeSweep& change) {
  const absl::StatusOr<SweepState> state = StateOf(change.sweep);
  if (!state.ok()) return state.status();
  if (absl::Status fit = CheckDescription(change, *state); !fit.ok()) {
    return fit;
  }
  std::optional<int64_t> archived_at;
  if (change.archived_at) archived_at = Microseconds(*change.archived_at);
  Query(connection_,
        "UPDATE sweep SET archived_at = ?, note = ?, tags = ?, thinned = 0 "
        "WHERE id = ?",
        archived_at, change.note, WordsToJson(change.tags), change.sweep.value)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const RemoveSweep& change) {
  const absl::StatusOr<SweepState> state = StateOf(change.sweep);
  if (!state.ok()) return state.status();
  if (absl::Status may = CheckRemoval(change.sweep, *state); !may.ok()) {
    return may;
  }
  const int64_t at = Microseconds(change.at);
  Query(connection_, "UPDATE sweep SET removed_at = ? WHERE id = ?", at,
        change.sweep.value)
      .Finish();
  Query(connection_, "DELETE FROM errand WHERE sweep = ?", change.sweep.value)
      .Finish();
  Query(connection_,
        "INSERT INTO retired_sweep SELECT s.id, s.name, (SELECT count(*) FROM "
        "trial WHERE sweep = s.id), ? FROM sweep s WHERE s.id = ?",
        at, change.sweep.value)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const DropMeasurements& change) {
  int64_t row = 0;
  std::string word;
  {
    Query query(connection_,
                "SELECT t.id, t.state FROM trial t JOIN sweep s ON s.id = "
                "t.sweep WHERE t.text = ? AND s.removed_at IS NULL",
                ToText(change.trial));
    if (!query.Next()) {
      return absl::NotFoundError("no trial " + ToText(change.trial));
    }
    query.Read(row, word);
  }
  const std::optional<TrialState> state = ParseTrialState(word);
  if (!state) return absl::DataLossError("stored state is unknown: " + word);
  if (absl::Status may = CheckRemoval(change.trial, *state); !may.ok()) {
    return may;
  }
  Query(connection_, "INSERT OR IGNORE INTO dropped_trial VALUES (?)", row)
      .Finish();
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
