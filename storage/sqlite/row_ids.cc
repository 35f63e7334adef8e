#include "storage/sqlite/row_ids.h"

#include <vector>

#include "storage/sqlite/json_array.h"

namespace leadline::storage::sqlite {
namespace {

// Far above what is live at once; only bounds memory.
constexpr size_t kMostRemembered = 100'000;

template <typename Map>
void Remember(Map& map, const typename Map::key_type& key,
              const typename Map::mapped_type& value) {
  if (map.size() >= kMostRemembered) map.clear();
  map.emplace(key, value);
}

int64_t LastRow(Connection& connection) {
  return connection.database().getLastInsertRowid();
}

}  // namespace

std::optional<int64_t> RowIds::Cohort(const CohortId& id) {
  if (const auto known = cohorts_.find(id); known != cohorts_.end()) {
    return known->second;
  }
  Query query(connection_, "SELECT id FROM cohort WHERE text = ?", ToText(id));
  if (!query.Next()) return std::nullopt;
  int64_t row = 0;
  query.Read(row);
  Remember(cohorts_, id, row);
  return row;
}

std::optional<TrialKey> RowIds::Trial(const TrialId& id) {
  if (const auto known = trials_.find(id); known != trials_.end()) {
    return known->second;
  }
  Query query(connection_,
              "SELECT t.id, h.number FROM trial t JOIN cohort h ON h.id = "
              "t.cohort WHERE t.text = ?",
              ToText(id));
  if (!query.Next()) return std::nullopt;
  TrialKey key;
  key.cohort.cell = id.cell;
  query.Read(key.row, key.cohort.number);
  Remember(trials_, id, key);
  return key;
}

int64_t RowIds::Metric(const std::string& name) {
  if (const auto known = metrics_.find(name); known != metrics_.end()) {
    return known->second;
  }
  int64_t row = 0;
  Query query(connection_, "SELECT id FROM metric WHERE name = ?", name);
  if (query.Next()) {
    query.Read(row);
  } else {
    Query(connection_, "INSERT INTO metric (name) VALUES (?)", name).Finish();
    row = LastRow(connection_);
  }
  Remember(metrics_, name, row);
  return row;
}

int64_t RowIds::SourceList(const std::vector<std::string>& names) {
  const std::string text = WordsToJson(names);
  if (const auto known = source_lists_.find(text);
      known != source_lists_.end()) {
    return known->second;
  }
  int64_t row = 0;
  Query query(connection_, "SELECT id FROM source_list WHERE names = ?", text);
  if (query.Next()) {
    query.Read(row);
  } else {
    Query(connection_, "INSERT INTO source_list (names) VALUES (?)", text)
        .Finish();
    row = LastRow(connection_);
    int64_t position = 0;
    for (const std::string& name : names) {
      Query(connection_, "INSERT INTO source VALUES (?, ?, ?)", row, position,
            name)
          .Finish();
      ++position;
    }
  }
  Remember(source_lists_, text, row);
  return row;
}

void RowIds::Forget() {
  cohorts_.clear();
  trials_.clear();
  metrics_.clear();
  source_lists_.clear();
}

}  // namespace leadline::storage::sqlite
