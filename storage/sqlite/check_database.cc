#include <array>
#include <system_error>

#include "storage/backup.h"
#include "storage/sqlite/connection.h"
#include "storage/sqlite/file_check.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/table_counts.h"

namespace leadline::storage {
namespace {

namespace fs = std::filesystem;
using sqlite::Connection;

/// `sql` gives what breaks the rule, a row each: an id.
struct Rule {
  const char* text;
  const char* sql;
};

constexpr char kTrialStatesSql[] =
    "SELECT text FROM trial WHERE state NOT IN ('queued', 'leased', 'running', "
    "'unreachable', 'suspended', 'succeeded', 'diverged', 'failed', "
    "'cancelled')";

// Of sweeps that are not being removed: parts of those go one by one.
constexpr std::array kRules = {
    Rule{"the state of a trial is one of the known", kTrialStatesSql},
    Rule{"the state of a sweep is one of the known",
         "SELECT text FROM sweep WHERE state NOT IN ('active', 'paused', "
         "'complete', 'cancelled')"},
    Rule{"the outcome of an attempt is one of the known",
         "SELECT h.text || '@' || a.number FROM attempt a JOIN cohort h ON "
         "h.id = a.cohort WHERE a.outcome NOT IN ('live', 'succeeded', "
         "'failed', 'superseded', 'preempted', 'cancelled')"},
    Rule{"an attempt has a kind of failure exactly where it failed",
         "SELECT h.text || '@' || a.number FROM attempt a JOIN cohort h ON "
         "h.id = a.cohort WHERE (a.outcome = 'failed') <> (a.kind IS NOT "
         "NULL) AND a.outcome = 'failed'"},
    Rule{"a trial that succeeded has its result",
         "SELECT t.text FROM trial t JOIN sweep s ON s.id = t.sweep WHERE "
         "t.state = 'succeeded' AND s.removed_at IS NULL AND NOT EXISTS "
         "(SELECT 1 FROM result r WHERE r.trial = t.id)"},
    Rule{"a result was given by an attempt of its cohort",
         "SELECT t.text FROM result r JOIN trial t ON t.id = r.trial WHERE NOT "
         "EXISTS (SELECT 1 FROM attempt a WHERE a.cohort = t.cohort AND "
         "a.number = r.attempt)"},
    Rule{"a cohort has as many attempts as it counts",
         "SELECT h.text FROM cohort h JOIN cell c ON c.id = h.cell JOIN sweep "
         "s ON s.id = c.sweep WHERE s.removed_at IS NULL AND h.attempts <> "
         "(SELECT count(*) FROM attempt a WHERE a.cohort = h.id)"},
    Rule{"only the last attempt of a cohort is live",
         "SELECT h.text || '@' || a.number FROM attempt a JOIN cohort h ON "
         "h.id = a.cohort WHERE a.outcome = 'live' AND a.number <> "
         "h.attempts"},
    Rule{"a trial that is held has a live attempt",
         "SELECT t.text FROM trial t WHERE t.state IN ('leased', 'running', "
         "'unreachable') AND NOT EXISTS (SELECT 1 FROM attempt a WHERE "
         "a.cohort = t.cohort AND a.outcome = 'live')"},
    Rule{"a trial is of the sweep and cell of its cohort",
         "SELECT t.text FROM trial t JOIN cell c ON c.id = t.cell JOIN cohort "
         "h ON h.id = t.cohort WHERE c.sweep <> t.sweep OR h.cell <> t.cell"},
    Rule{"a sweep that has ended has no trial to train",
         "SELECT s.text FROM sweep s WHERE s.state IN ('complete', "
         "'cancelled') AND EXISTS (SELECT 1 FROM trial t WHERE t.sweep = s.id "
         "AND t.state IN ('queued', 'leased', 'running', 'unreachable', "
         "'suspended'))"},
    Rule{"settings are JSON",
         "SELECT text FROM cell WHERE NOT json_valid(settings_json) OR NOT "
         "json_valid(axes_json)"},
    Rule{"an archived sweep has ended",
         "SELECT text FROM sweep WHERE archived_at IS NOT NULL AND state IN "
         "('active', 'paused')"},
};

class Checker {
 public:
  explicit Checker(Connection& connection) : database_(connection.database()) {}

  std::vector<Finding> All(bool know_rules) {
    Structure();
    // What follows would stumble over every damaged page.
    if (!findings_.empty()) return std::move(findings_);
    References();
    if (know_rules) {
      for (const Rule& rule : kRules) Apply(rule);
    }
    Views();
    return std::move(findings_);
  }

 private:
  void Structure() {
    SQLite::Statement check(database_, "PRAGMA integrity_check(20)");
    while (check.executeStep()) {
      const std::string found = check.getColumn(0).getString();
      if (found != "ok") findings_.push_back({"the file is whole", found});
    }
  }

  void References() {
    SQLite::Statement check(database_, "PRAGMA foreign_key_check");
    std::map<std::string, int64_t> broken;
    while (check.executeStep()) {
      ++broken[check.getColumn(0).getString() + " to " +
               check.getColumn(2).getString()];
    }
    for (const auto& [which, count] : broken) {
      findings_.push_back({"what is referred to is there",
                           which + ": " + std::to_string(count) + " rows"});
    }
  }

  void Apply(const Rule& rule) {
    SQLite::Statement query(database_, rule.sql);
    int64_t count = 0;
    std::string first;
    while (query.executeStep()) {
      if (count++ == 0) first = query.getColumn(0).getString();
    }
    if (count == 0) return;
    findings_.push_back(
        {rule.text,
         first +
             (count > 1 ? " and " + std::to_string(count - 1) + " more" : "")});
  }

  void Views() {
    SQLite::Statement names(database_,
                            "SELECT name FROM sqlite_schema WHERE type = "
                            "'view' ORDER BY name");
    while (names.executeStep()) {
      const std::string name = names.getColumn(0).getString();
      try {
        SQLite::Statement(database_, "SELECT * FROM \"" + name + "\" LIMIT 1")
            .executeStep();
      } catch (const SQLite::Exception& error) {
        findings_.push_back({"the views answer", name + ": " + error.what()});
      }
    }
  }

  SQLite::Database& database_;
  std::vector<Finding> findings_;
};

absl::StatusOr<DatabaseReport> Check(const fs::path& path) {
  Connection connection(path, Connection::Mode::kRead);
  connection.Execute("BEGIN");
  DatabaseReport report;
  report.facts.schema =
      connection.database().execAndGet("PRAGMA user_version").getInt64();
  report.findings =
      Checker(connection).All(report.facts.schema == sqlite::kSchemaVersion);
  if (report.findings.empty() ||
      report.findings.front().rule != "the file is whole") {
    report.facts.rows = sqlite::CountRows(connection);
  }
  connection.Rollback();
  return report;
}

}  // namespace

absl::StatusOr<DatabaseReport> CheckDatabase(const fs::path& database) {
  const auto kind = sqlite::CheckFile(database);
  if (!kind.ok()) return kind.status();
  if (*kind != sqlite::FileKind::kOurs) {
    return absl::FailedPreconditionError("there is no database " +
                                         database.string());
  }
  absl::StatusOr<DatabaseReport> report = sqlite::Run(
      "checking " + database.string(), [&] { return Check(database); });
  if (absl::IsDataLoss(report.status())) {
    DatabaseReport damaged;
    damaged.findings.push_back(
        {"the file is whole", std::string(report.status().message())});
    return damaged;
  }
  if (!report.ok()) return report;
  std::error_code error;
  report->facts.bytes = static_cast<int64_t>(fs::file_size(database, error));
  return report;
}

}  // namespace leadline::storage
