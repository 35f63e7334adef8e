#include "coordinator/offline.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "coordinator/state_folder.h"
#include "storage/backup.h"
#include "storage/records.h"

namespace leadline {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Asked {
  std::string word;
  std::string file;
  std::string state;
  bool json = false;
  std::string wrong;  // not empty: cannot be done
};

Asked Read(int argc, char** argv) {
  Asked asked;
  asked.word = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      asked.json = true;
    } else if (word == "--state" && i + 1 < argc) {
      asked.state = argv[++i];
    } else if (!word.starts_with("-") && asked.file.empty()) {
      asked.file = word;
    } else {
      asked.wrong = "unexpected argument " + word;
    }
  }
  if (asked.state.empty()) asked.wrong = "--state DIR is missing";
  if (asked.word == "restore" && asked.file.empty()) {
    asked.wrong = "the backup to restore is missing";
  }
  return asked;
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

int Fail(const Asked& asked, int code, const std::string& message,
         const std::string& where = "") {
  if (asked.json) {
    const Json error = {
        {"error", {{"code", code}, {"message", message}, {"where", where}}}};
    std::fputs(Text(error).c_str(), stderr);
  } else {
    std::fprintf(stderr, "leadline: %s\n", message.c_str());
  }
  return code;
}

int Fail(const Asked& asked, const absl::Status& status) {
  return Fail(asked, 1, std::string(status.message()), asked.state);
}

/// "2026-11-29T15:04:05Z" without what a file name should not have.
std::string Stamp() {
  std::string text =
      storage::ToText(std::chrono::time_point_cast<std::chrono::microseconds>(
          std::chrono::system_clock::now()));
  std::erase(text, ':');
  std::erase(text, '-');
  return text;
}

Json FactsJson(const storage::BackupFacts& facts) {
  Json rows = Json::object();
  for (const auto& [table, count] : facts.rows) rows[table] = count;
  return {{"bytes", facts.bytes}, {"schema", facts.schema}, {"rows", rows}};
}

std::string RowsText(const storage::BackupFacts& facts) {
  std::string text;
  for (const char* table : {"sweep", "trial", "attempt", "result", "points"}) {
    const auto found = facts.rows.find(table);
    if (found == facts.rows.end()) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(found->second) +
            " rows of " + table;
  }
  return text;
}

int Restore(const Asked& asked) {
  const auto folder = StateFolder::Open(asked.state);
  if (!folder.ok()) return Fail(asked, folder.status());
  const fs::path database = folder->path() / "leadline.db";
  const auto report = storage::CheckDatabase(asked.file);
  if (!report.ok()) return Fail(asked, report.status());
  if (!report->findings.empty()) {
    const storage::Finding& first = report->findings.front();
    return Fail(asked, 1,
                "the backup " + asked.file + " is not sound (" + first.rule +
                    ": " + first.what + "); leadline fsck " + asked.file +
                    " tells all",
                asked.file);
  }
  // A copy: the backup stays where it is, and what lies in another file system
  // cannot be moved in one step.
  const fs::path copy = folder->path() / "leadline.db.restoring";
  const auto facts = storage::CopyDatabase(asked.file, copy);
  if (!facts.ok()) return Fail(asked, facts.status());
  const auto aside =
      storage::PutInPlace(copy, database, ".before-restore-" + Stamp());
  if (!aside.ok()) return Fail(asked, aside.status());
  if (asked.json) {
    Json json = FactsJson(*facts);
    json["database"] = database.string();
    json["set_aside"] = aside->empty() ? Json(nullptr) : Json(aside->string());
    std::fputs(Text(json).c_str(), stdout);
    return 0;
  }
  std::printf("%s: restored, %s\n", database.c_str(), RowsText(*facts).c_str());
  if (!aside->empty()) {
    std::printf("what was there is kept as %s\n", aside->c_str());
  }
  return 0;
}

int Print(const Asked& asked, const fs::path& database,
          const storage::DatabaseReport& report) {
  const bool sound = report.findings.empty();
  if (asked.json) {
    Json json = FactsJson(report.facts);
    json["database"] = database.string();
    json["sound"] = sound;
    json["findings"] = Json::array();
    for (const auto& [rule, what] : report.findings) {
      json["findings"].push_back({{"rule", rule}, {"found", what}});
    }
    std::fputs(Text(json).c_str(), stdout);
    return sound ? 0 : 1;
  }
  for (const auto& [rule, what] : report.findings) {
    std::printf("%s: not so: %s\n", rule.c_str(), what.c_str());
  }
  std::printf("%s: %s%s%s\n", database.c_str(),
              sound ? "sound" : "NOT SOUND, put a backup in its place",
              report.facts.rows.empty() ? "" : "; ",
              RowsText(report.facts).c_str());
  return sound ? 0 : 1;
}

int Check(const Asked& asked) {
  if (!asked.file.empty()) {
    const auto report = storage::CheckDatabase(asked.file);
    if (!report.ok()) return Fail(asked, report.status());
    return Print(asked, asked.file, *report);
  }
  std::error_code error;
  const fs::path database = fs::path(asked.state) / "leadline.db";
  if (!fs::exists(database, error)) {
    return Fail(asked, 6, "there is no database " + database.string(),
                asked.state);
  }
  const auto folder = StateFolder::Open(asked.state);
  if (!folder.ok()) {
    return Fail(asked, 1,
                std::string(folder.status().message()) +
                    "; what a running one has can be looked through in a "
                    "backup: leadline backup FILE, leadline fsck FILE",
                asked.state);
  }
  const auto report = storage::CheckDatabase(database);
  if (!report.ok()) return Fail(asked, report.status());
  return Print(asked, database, *report);
}

}  // namespace

std::optional<int> RunOffline(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  const std::string word = argv[1];
  if (word != "restore" && word != "fsck") return std::nullopt;
  umask(077);
  const Asked asked = Read(argc, argv);
  if (!asked.wrong.empty()) return Fail(asked, 2, asked.wrong);
  return word == "restore" ? Restore(asked) : Check(asked);
}

}  // namespace leadline
