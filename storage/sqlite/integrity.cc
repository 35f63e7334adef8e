#include "storage/sqlite/integrity.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sqlite3.h>

namespace leadline::storage::sqlite {
namespace {

// A coordinator that lives for one command has better things to do.
constexpr std::chrono::seconds kBeforeBackground{5};

absl::Status Damaged(const std::string& path, const std::string& found) {
  return absl::DataLossError(
      "the database " + path + " is damaged: " + found +
      "; put a backup in its place with leadline restore FILE, or save what "
      "can be read with sqlite3 " +
      path + " .recover");
}

absl::Status Check(Connection& connection, const std::string& pragma) {
  SQLite::Database& database = connection.database();
  try {
    SQLite::Statement check(database, pragma);
    while (check.executeStep()) {
      const std::string found = check.getColumn(0).getString();
      if (found != "ok") return Damaged(database.getFilename(), found);
    }
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xff;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
      return Damaged(database.getFilename(), error.what());
    }
    throw;
  }
  return absl::OkStatus();
}

absl::Status CheckEachTable(const std::filesystem::path& path,
                            const std::stop_token& stop) {
  return Run("checking " + path.string(), [&] {
    Connection connection(path, Connection::Mode::kRead);
    const std::stop_callback interrupt(
        stop, [&] { sqlite3_interrupt(connection.database().getHandle()); });
    std::vector<std::string> tables;
    {
      Query names(connection,
                  "SELECT name FROM sqlite_schema WHERE type = 'table'");
      while (names.Next()) names.Read(tables.emplace_back());
    }
    for (const std::string& table : tables) {
      // Apart, so that no read stays open for long: the log would grow.
      absl::Status sound =
          Check(connection, "PRAGMA quick_check('" + table + "')");
      if (!sound.ok()) return sound;
    }
    return absl::OkStatus();
  });
}

void WaitFor(std::chrono::seconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace

absl::StatusOr<bool> LookForDamage(Connection& connection,
                                   std::chrono::milliseconds time) {
  connection.LimitTime(time);
  absl::Status sound = Run("checking the database", [&] {
    return Check(connection, "PRAGMA quick_check(1)");
  });
  connection.LimitTime({});
  if (absl::IsDeadlineExceeded(sound)) return false;
  if (!sound.ok()) return sound;
  return true;
}

BackgroundCheck::BackgroundCheck(
    const std::filesystem::path& path,
    std::function<void(const absl::Status&)> checked)
    : thread_(
          [path, checked = std::move(checked)](const std::stop_token& stop) {
            WaitFor(kBeforeBackground, stop);
            if (stop.stop_requested()) return;
            const absl::Status found = CheckEachTable(path, stop);
            if (!stop.stop_requested()) checked(found);
          }) {}

}  // namespace leadline::storage::sqlite
