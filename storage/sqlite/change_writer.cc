#include "storage/sqlite/change_writer.h"

#include <variant>

#include "storage/change_checks.h"

namespace leadline::storage::sqlite {

absl::Status ChangeWriter::Write(const Change& change) {
  return std::visit([this](const auto& one) { return On(one); }, change);
}

absl::Status ChangeWriter::On(const MoveSweep& change) {
  std::string word;
  {
    Query query(connection_, "SELECT state FROM sweep WHERE id = ?",
                change.sweep.value);
    if (!query.Next()) {
      return absl::NotFoundError("no sweep " + ToText(change.sweep));
    }
    query.Read(word);
  }
  const std::optional<SweepState> state = ParseSweepState(word);
  if (!state) return absl::DataLossError("stored state is unknown: " + word);
  if (absl::Status legal = CheckMove(change, *state); !legal.ok()) return legal;
  Query(connection_, "UPDATE sweep SET state = ? WHERE id = ?",
        std::string(Name(change.to)), change.sweep.value)
      .Finish();
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const MoveTrial& change) {
  int64_t row = 0;
  std::string word;
  {
    Query query(connection_, "SELECT id, state FROM trial WHERE text = ?",
                ToText(change.trial));
    if (!query.Next()) {
      return absl::NotFoundError("no trial " + ToText(change.trial));
    }
    query.Read(row, word);
  }
  const std::optional<TrialState> state = ParseTrialState(word);
  if (!state) return absl::DataLossError("stored state is unknown: " + word);
  if (absl::Status legal = CheckMove(change, *state); !legal.ok()) return legal;
  Query(connection_, "UPDATE trial SET state = ?, reason = ? WHERE id = ?",
        std::string(Name(change.to)), change.reason, row)
      .Finish();
  NoteInRow(change);
  return absl::OkStatus();
}

absl::Status ChangeWriter::On(const KeepAnswer& change) {
  {
    Query query(connection_, "SELECT answer FROM answer WHERE request = ?",
                change.request_id);
    if (query.Next()) {
      std::string kept;
      query.Read(kept);
      return CheckSameAnswer(change, kept);
    }
  }
  Query(connection_, "INSERT INTO answer VALUES (?, ?, ?)", change.request_id,
        change.answer, int64_t{change.at.time_since_epoch().count()})
      .Finish();
  return absl::OkStatus();
}

}  // namespace leadline::storage::sqlite
