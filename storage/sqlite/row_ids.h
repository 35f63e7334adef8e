// The integer keys that stand for our ids inside the database.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/ids.h"
#include "storage/sqlite/connection.h"

namespace leadline::storage::sqlite {

/// A trial's key, and the cohort it belongs to.
struct TrialKey {
  int64_t row = 0;
  CohortId cohort;
};

/// Looks keys up and remembers them. Forget when a transaction was taken back:
/// it may have made some of them.
class RowIds {
 public:
  explicit RowIds(Connection& connection) : connection_(connection) {}

  /// Null unless it is stored.
  std::optional<int64_t> Cohort(const CohortId& id);
  std::optional<TrialKey> Trial(const TrialId& id);

  /// Makes one where there is none.
  int64_t Metric(const std::string& name);
  int64_t SourceList(const std::vector<std::string>& names);

  void Forget();

 private:
  Connection& connection_;
  std::map<CohortId, int64_t> cohorts_;
  std::map<TrialId, TrialKey> trials_;
  std::map<std::string, int64_t> metrics_;
  std::map<std::string, int64_t> source_lists_;
};

}  // namespace leadline::storage::sqlite
