// What is done to a sweep in several transactions, of the store in memory.

#include <algorithm>

#include "storage/change_checks.h"
#include "storage/memory_record.h"

namespace leadline::storage {
namespace {

bool AreOfOneKind(const ErrandRecord& one, const ErrandRecord& other) {
  return one.kind == other.kind && one.cell == other.cell;
}

}  // namespace

absl::Status MemoryTransaction::On(const BeginErrand& change) {
  const ErrandRecord& errand = change.errand;
  if (absl::Status fit = CheckErrand(errand); !fit.ok()) return fit;
  if (!record_.sweeps.contains(errand.sweep)) {
    return absl::NotFoundError("no sweep " + ToText(errand.sweep));
  }
  std::vector<ErrandRecord> errands = record_.errands[errand.sweep];
  for (const ErrandRecord& other : errands) {
    if (AreOfOneKind(other, errand)) return UnderWay(errand);
  }
  errands.push_back(errand);
  Set(record_.errands, errand.sweep, errands);
  return absl::OkStatus();
}

absl::Status MemoryTransaction::On(const EndErrand& change) {
  std::vector<ErrandRecord> errands = record_.errands[change.errand.sweep];
  const auto ended = std::ranges::find_if(errands, [&](const auto& one) {
    return AreOfOneKind(one, change.errand);
  });
  if (ended == errands.end()) return NotUnderWay(change.errand);
  errands.erase(ended);
  Set(record_.errands, change.errand.sweep, errands);
  return absl::OkStatus();
}

}  // namespace leadline::storage
