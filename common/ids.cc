#include "common/ids.h"

#include <charconv>

namespace leadline {
namespace {

/// Reads ids front to back; one wrong character fails the whole.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool Skip(std::string_view mark) {
    if (!rest_.starts_with(mark)) return Fail();
    rest_.remove_prefix(mark.size());
    return ok_;
  }

  int64_t Number(int64_t smallest) {
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto length = static_cast<size_t>(end - rest_.data());
    if (error != std::errc() || value < smallest || rest_[0] == '-' ||
        (rest_[0] == '0' && length > 1)) {
      Fail();
      return 0;
    }
    rest_.remove_prefix(length);
    return value;
  }

  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  bool Fail() {
    ok_ = false;
    rest_ = {};
    return false;
  }

  std::string_view rest_;
  bool ok_ = true;
};

SweepId ReadSweep(Reader& reader) {
  reader.Skip("s");
  return {reader.Number(1)};
}

CellId ReadCell(Reader& reader) {
  const SweepId sweep = ReadSweep(reader);
  reader.Skip(".");
  return {sweep, reader.Number(1)};
}

CohortId ReadCohort(Reader& reader) {
  const CellId cell = ReadCell(reader);
  reader.Skip(".c");
  return {cell, reader.Number(0)};
}

template <typename Id>
std::optional<Id> Whole(const Reader& reader, const Id& id) {
  return reader.AtEnd() ? std::optional<Id>(id) : std::nullopt;
}

}  // namespace

std::string ToText(const SweepId& id) { return "s" + std::to_string(id.value); }

std::string ToText(const CellId& id) {
  return ToText(id.sweep) + "." + std::to_string(id.number);
}

std::string ToText(const TrialId& id) {
  return ToText(id.cell) + "." + std::to_string(id.seed_index);
}

std::string ToText(const CohortId& id) {
  return ToText(id.cell) + ".c" + std::to_string(id.number);
}

std::string ToText(const AttemptKey& key) {
  return ToText(key.cohort) + "@" + std::to_string(key.number);
}

std::optional<SweepId> ParseSweepId(std::string_view text) {
  Reader reader(text);
  const SweepId id = ReadSweep(reader);
  return Whole(reader, id);
}

std::optional<CellId> ParseCellId(std::string_view text) {
  Reader reader(text);
  const CellId id = ReadCell(reader);
  return Whole(reader, id);
}

std::optional<TrialId> ParseTrialId(std::string_view text) {
  Reader reader(text);
  const CellId cell = ReadCell(reader);
  reader.Skip(".");
  const TrialId id{cell, reader.Number(0)};
  return Whole(reader, id);
}

std::optional<CohortId> ParseCohortId(std::string_view text) {
  Reader reader(text);
  const CohortId id = ReadCohort(reader);
  return Whole(reader, id);
}

std::optional<AttemptKey> ParseAttemptKey(std::string_view text) {
  Reader reader(text);
  const CohortId cohort = ReadCohort(reader);
  reader.Skip("@");
  const AttemptKey key{cohort, reader.Number(1)};
  return Whole(reader, key);
}

}  // namespace leadline
