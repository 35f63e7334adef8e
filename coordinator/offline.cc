#include "coordinator/offline.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/cleanup/cleanup.h>
#include <absl/status/status.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "common/harmless_text.h"
#include "coordinator/state_folder.h"
#include "errors/error_code.h"
#include "errors/print_out.h"
#include "flags/command_line.h"
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
  bool has_flags = true;  // what follows "--" is a file, whatever its name
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (has_flags && word == "--") {
      has_flags = false;
    } else if (has_flags && word == "--json") {
      asked.json = true;
    } else if (has_flags && word == "--state" && i + 1 < argc) {
      asked.state = argv[++i];
    } else if ((!has_flags || !word.starts_with("-")) && asked.file.empty()) {
      asked.file = word;
    } else {
      asked.wrong = "unexpected argument " + word;
    }
  }
  if (asked.word == "restore" && asked.file.empty()) {
    asked.wrong = "the backup to restore is missing";
  }
  return asked;
}

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

/// As `leadline` itself tells an error. `where`: a file or folder.
int Fail(const Asked& asked, const absl::Status& status,
         const std::string& where) {
  const ErrorRow& row = RowOf(ErrorOf(status));
  const std::string message(status.message());
  if (asked.json) {
    const Json error = {{"error",
                         {{"code", row.name},
                          {"exit_code", row.exit_code},
                          {"message", message},
                          {"where", where}}}};
    std::fputs(Text(error).c_str(), stderr);
  } else {
    std::fprintf(stderr, "leadline: %s\n", HarmlessText(message).c_str());
  }
  return row.exit_code;
}

/// To standard output; `code`, unless it cannot be written.
int Say(const Asked& asked, const std::string& text, int code) {
  const absl::Status said = PrintOut(text);
  return said.ok() ? code : Fail(asked, said, "standard output");
}

/// A folder of another machine is taken where the coordinator's own setting, as
/// the environment has it, says so.
absl::StatusOr<StateFolder> OpenFolder(const Asked& asked) {
  const char* text = std::getenv("LEADLINE_ALLOW_NETWORK_FILESYSTEM");
  return StateFolder::OpenSoon(asked.state,
                               text != nullptr && flags::IsOn(text));
}

absl::Status CheckIsThere(const fs::path& database) {
  std::error_code error;
  switch (fs::status(database, error).type()) {
    case fs::file_type::not_found:
      return absl::NotFoundError("there is no database " + database.string());
    case fs::file_type::none:
      return WithError(
          absl::FailedPreconditionError("cannot look at " + database.string() +
                                        ": " + error.message()),
          ErrorCode::kFile);
    case fs::file_type::directory:
      return absl::InvalidArgumentError(
          database.string() +
          " is a folder, and a database is a file; a state folder is named by "
          "--state");
    default:
      return absl::OkStatus();
  }
}

int FailWithoutState(const Asked& asked) {
  return Fail(asked, absl::InvalidArgumentError("--state DIR is missing"),
              "--state");
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

/// Who may come in is as it was before the restore: a token that was revoked
/// since the backup stays so. What to say of it; empty if there is nothing. An
/// error where they could be carried over, but not now.
absl::StatusOr<std::string> CarryTokens(const fs::path& database,
                                        const fs::path& copy,
                                        storage::BackupFacts& facts) {
  const auto carried = storage::CarryAccess(database, copy);
  if (carried.ok()) {
    facts.rows["token"] = carried->tokens;
    facts.rows["audit_entry"] = carried->audit_entries;
    return "its tokens and its audit are those of the database that it "
           "replaces";
  }
  const absl::Status& why = carried.status();
  const bool cannot_ever = absl::IsNotFound(why) || absl::IsDataLoss(why) ||
                           absl::IsFailedPrecondition(why);
  if (!cannot_ever) return why;
  const auto tokens = facts.rows.find("token");
  const int64_t count = tokens == facts.rows.end() ? 0 : tokens->second;
  if (absl::IsNotFound(why) && count == 0) return "";
  return "its " + std::to_string(count) +
         " tokens are those of the backup: one that was revoked since lets its "
         "holder in again, one that was made since is gone; see leadline token "
         "list (" +
         std::string(why.message()) + ")";
}

int Restore(const Asked& asked) {
  if (absl::Status is_there = CheckIsThere(asked.file); !is_there.ok()) {
    return Fail(asked, is_there, asked.file);
  }
  if (asked.state.empty()) return FailWithoutState(asked);
  const auto folder = OpenFolder(asked);
  if (!folder.ok()) return Fail(asked, folder.status(), asked.state);
  const fs::path database = folder->path() / "leadline.db";
  const auto report = storage::CheckDatabase(asked.file);
  if (!report.ok()) return Fail(asked, report.status(), asked.file);
  if (!report->findings.empty()) {
    const storage::Finding& first = report->findings.front();
    return Fail(
        asked,
        absl::DataLossError("the backup " + asked.file + " is not sound (" +
                            first.rule + ": " + first.what +
                            "); leadline fsck " + asked.file + " tells all"),
        asked.file);
  }
  // A copy: the backup stays where it is, and what lies in another file system
  // cannot be moved in one step.
  const fs::path copy = folder->path() / "leadline.db.restoring";
  const absl::Cleanup leave_no_copy = [&] { storage::RemoveDatabase(copy); };
  auto facts = storage::CopyDatabase(asked.file, copy);
  if (!facts.ok()) return Fail(asked, facts.status(), asked.file);
  const auto tokens = CarryTokens(database, copy, *facts);
  if (!tokens.ok()) return Fail(asked, tokens.status(), asked.state);
  const auto aside =
      storage::PutInPlace(copy, database, ".before-restore-" + Stamp());
  if (!aside.ok()) return Fail(asked, aside.status(), asked.state);
  if (asked.json) {
    Json json = FactsJson(*facts);
    json["database"] = database.string();
    json["set_aside"] = aside->empty() ? Json(nullptr) : Json(aside->string());
    json["tokens"] = *tokens;
    return Say(asked, Text(json), 0);
  }
  std::string text = HarmlessText(database.string()) + ": restored, " +
                     RowsText(*facts) + "\n";
  if (!tokens->empty()) text += HarmlessText(*tokens) + "\n";
  if (!aside->empty()) {
    text += "what was there is kept as " + HarmlessText(aside->string()) + "\n";
  }
  return Say(asked, text, 0);
}

int Print(const Asked& asked, const fs::path& database,
          const storage::DatabaseReport& report) {
  const bool sound = report.findings.empty();
  const int code = sound ? 0 : 1;
  if (asked.json) {
    Json json = FactsJson(report.facts);
    json["database"] = database.string();
    json["sound"] = sound;
    json["findings"] = Json::array();
    for (const auto& [rule, what] : report.findings) {
      json["findings"].push_back({{"rule", rule}, {"found", what}});
    }
    return Say(asked, Text(json), code);
  }
  std::string text;
  for (const auto& [rule, what] : report.findings) {
    text += rule + ": not so: " + HarmlessText(what) + "\n";
  }
  text += HarmlessText(database.string()) + ": " +
          (sound ? "sound" : "NOT SOUND, put a backup in its place");
  if (!report.facts.rows.empty()) text += "; " + RowsText(report.facts);
  return Say(asked, text + "\n", code);
}

int Check(const Asked& asked) {
  if (asked.file.empty() && asked.state.empty()) {
    return FailWithoutState(asked);
  }
  const fs::path database = asked.file.empty()
                                ? fs::path(asked.state) / "leadline.db"
                                : fs::path(asked.file);
  if (absl::Status is_there = CheckIsThere(database); !is_there.ok()) {
    return Fail(asked, is_there, database);
  }
  std::optional<StateFolder> folder;  // nobody may change it meanwhile
  if (asked.file.empty()) {
    auto opened = OpenFolder(asked);
    if (!opened.ok()) {
      constexpr char kInstead[] =
          "; what a running one has can be looked through in a backup: "
          "leadline backup FILE, leadline fsck FILE";
      return Fail(
          asked,
          WithError(
              absl::Status(opened.status().code(),
                           std::string(opened.status().message()) + kInstead),
              ErrorOf(opened.status())),
          asked.state);
    }
    folder.emplace(*std::move(opened));
  }
  const auto report = storage::CheckDatabase(database);
  if (!report.ok()) return Fail(asked, report.status(), database);
  return Print(asked, database, *report);
}

}  // namespace

std::optional<int> RunOffline(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  const std::string word = argv[1];
  if (word != "restore" && word != "fsck") return std::nullopt;
  umask(077);
  const Asked asked = Read(argc, argv);
  if (!asked.wrong.empty()) {
    return Fail(asked, absl::InvalidArgumentError(asked.wrong), asked.file);
  }
  return word == "restore" ? Restore(asked) : Check(asked);
}

}  // namespace leadline
