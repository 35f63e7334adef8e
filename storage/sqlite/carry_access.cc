#include <utility>

#include "storage/backup.h"
#include "storage/open.h"
#include "storage/sqlite/access_rows.h"
#include "storage/sqlite/file_check.h"

namespace leadline::storage {
namespace {

using sqlite::Connection;

struct Access {
  std::vector<TokenRecord> tokens;
  std::vector<AuditRecord> audit;
};

absl::StatusOr<Access> ReadAccess(const std::filesystem::path& database) {
  Connection connection(database, Connection::Mode::kRead);
  // One of an early schema has no table for them.
  if (!connection.database().tableExists("token")) return Access{};
  auto tokens = sqlite::SelectTokens(connection);
  if (!tokens.ok()) return tokens.status();
  Access access{*std::move(tokens), {}};
  // Who may come in matters more than who did.
  const absl::Status read = sqlite::Run("reading the audit", [&] {
    access.audit = sqlite::SelectAudit(connection, {}, kMostAuditRecords);
    return absl::OkStatus();
  });
  if (!read.ok()) access.audit.clear();
  return access;
}

absl::Status WriteAccess(const std::filesystem::path& database,
                         const Access& access) {
  Connection connection(database, Connection::Mode::kWrite);
  connection.Execute("BEGIN IMMEDIATE");
  sqlite::ReplaceTokens(connection, access.tokens);
  sqlite::ReplaceAudit(connection, access.audit);
  connection.Execute("COMMIT");
  // One file again, complete in itself.
  connection.Execute("PRAGMA journal_mode = DELETE");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AccessCounts> CarryAccess(const std::filesystem::path& from,
                                         const std::filesystem::path& to) {
  const auto kind = sqlite::CheckFile(from);
  if (!kind.ok()) return kind.status();
  if (*kind != sqlite::FileKind::kOurs) {
    return absl::NotFoundError("there is no database " + from.string());
  }
  const auto access = sqlite::Run("reading the tokens of " + from.string(),
                                  [&] { return ReadAccess(from); });
  if (!access.ok()) return access.status();
  if (access->tokens.empty()) {
    return absl::NotFoundError(from.string() + " never had a token");
  }
  // An old backup may have no tables for them.
  if (const auto migrated = OpenSqliteStore(to); !migrated.ok()) {
    return migrated.status();
  }
  const absl::Status written =
      sqlite::Run("writing the tokens of " + to.string(),
                  [&] { return WriteAccess(to, *access); });
  if (!written.ok()) return written;
  return AccessCounts{std::ssize(access->tokens), std::ssize(access->audit)};
}

}  // namespace leadline::storage
