// What is done to a sweep in several transactions.

#include "storage/change_checks.h"
#include "storage/sqlite/change_writer.h"

namespace leadline::storage::sqlite {

absl::Status ChangeWriter::On(const BeginErrand& change) {
  const ErrandRecord& errand = change.errand;
  if (absl::Status fit = CheckErrand(errand); !fit.ok()) return fit;
  if (const auto state = StateOf(errand.sweep); !state.ok()) {
    return state.status();
  }
  const int64_t begun =
      Query(connection_,
            "INSERT INTO errand VALUES (NULL, ?, ?, ?, ?, ?) ON CONFLICT DO "
            "NOTHING",
            errand.sweep.value, errand.cell.value_or(0),
            std::string(Name(errand.kind)), int64_t{errand.failed},
            int64_t{errand.cancelled})
          .Finish();
  return begun == 1 ? absl::OkStatus() : UnderWay(errand);
}

absl::Status ChangeWriter::On(const EndErrand& change) {
  const ErrandRecord& errand = change.errand;
  const int64_t ended =
      Query(connection_,
            "DELETE FROM errand WHERE sweep = ? AND cell = ? AND kind = ?",
            errand.sweep.value, errand.cell.value_or(0),
            std::string(Name(errand.kind)))
          .Finish();
  return ended == 1 ? absl::OkStatus() : NotUnderWay(errand);
}

}  // namespace leadline::storage::sqlite
