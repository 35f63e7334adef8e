#include "coordinator/rpc/resolve.h"

#include <utility>

#include <absl/status/status.h>

#include "common/utf8_prefix.h"

namespace leadline::rpc {
namespace {

constexpr int64_t kNamesShown = 5;

absl::StatusOr<SweepId> Existing(const storage::StoreReader& reader,
                                 SweepId sweep) {
  const auto row = reader.GetSweep(sweep);
  if (!row.ok()) return row.status();
  return sweep;
}

absl::StatusOr<SweepId> Newest(const storage::StoreReader& reader) {
  const auto rows = reader.FindSweeps({}, std::nullopt, 1);
  if (!rows.ok()) return rows.status();
  if (rows->empty()) return absl::NotFoundError("there is no sweep yet");
  return rows->front().sweep.id;
}

absl::StatusOr<SweepId> ByName(const storage::StoreReader& reader,
                               const std::string& prefix) {
  const auto found = reader.FindByName(prefix, kNamesShown + 1);
  if (!found.ok()) return found.status();
  const std::string shown(Utf8Prefix(prefix, 100));
  if (found->empty()) {
    return absl::NotFoundError("no sweep has the id \"" + shown +
                               "\" or a name that starts so");
  }
  if (found->size() == 1) return found->front().id;
  std::string ids;
  for (const storage::SweepRecord& sweep : *found) {
    ids += (ids.empty() ? "" : ", ") + ToText(sweep.id);
  }
  return absl::InvalidArgumentError(
      "several sweeps have a name that starts "
      "with \"" +
      shown + "\": " + ids);
}

}  // namespace

absl::StatusOr<SweepId> ResolveSweep(const storage::StoreReader& reader,
                                     const std::string& text) {
  if (text.empty()) return Newest(reader);
  if (const auto id = ParseSweepId(text)) return Existing(reader, *id);
  return ByName(reader, text);
}

absl::StatusOr<SweepId> ResolveNamedSweep(const storage::StoreReader& reader,
                                          const std::string& text) {
  if (text.empty()) return absl::InvalidArgumentError("no sweep was named");
  return ResolveSweep(reader, text);
}

absl::StatusOr<storage::CellValues> FindCell(const storage::StoreReader& reader,
                                             const CellId& cell) {
  auto cells =
      reader.ListCells(cell.sweep, "validation_loss", cell.number - 1, 1);
  if (!cells.ok()) return cells.status();
  if (cells->empty() || cells->front().cell.id != cell) {
    return absl::NotFoundError("no cell " + ToText(cell));
  }
  return std::move(cells->front());
}

absl::StatusOr<control::Target> ResolveTarget(
    const storage::StoreReader& reader, const std::string& text) {
  if (text.empty()) {
    return absl::InvalidArgumentError("no sweep, cell or trial was named");
  }
  if (const auto trial = ParseTrialId(text)) {
    const auto row = reader.GetTrial(*trial);
    if (!row.ok()) return row.status();
    return *trial;
  }
  if (const auto cell = ParseCellId(text)) {
    const auto found = FindCell(reader, *cell);
    if (!found.ok()) return found.status();
    return *cell;
  }
  const auto sweep = ResolveSweep(reader, text);
  if (!sweep.ok()) return sweep.status();
  return *sweep;
}

}  // namespace leadline::rpc
