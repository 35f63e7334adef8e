#include "storage/sqlite/access_rows.h"

namespace leadline::storage::sqlite {
namespace {

#define LEADLINE_TOKEN_COLUMNS \
  "id, name, role, hash, created_at, expires_at, revoked_at"
#define LEADLINE_AUDIT_COLUMNS \
  "id, at, who, call, target, outcome, message, count"

WallTime ToTime(int64_t microseconds) {
  return WallTime(std::chrono::microseconds(microseconds));
}

int64_t ToNumber(WallTime time) { return time.time_since_epoch().count(); }

std::optional<int64_t> ToNumber(const std::optional<WallTime>& time) {
  return time ? std::optional(ToNumber(*time)) : std::nullopt;
}

absl::StatusOr<TokenRecord> ReadToken(Query& query) {
  TokenRecord token;
  std::string role;
  int64_t created = 0;
  std::optional<int64_t> expires;
  std::optional<int64_t> revoked;
  query.Read(token.id, token.name, role, token.hash, created, expires, revoked);
  const std::optional<AccessRole> parsed = ParseAccessRole(role);
  if (!parsed) return absl::DataLossError("stored role is unknown: " + role);
  token.role = *parsed;
  token.created_at = ToTime(created);
  if (expires) token.expires_at = ToTime(*expires);
  if (revoked) token.revoked_at = ToTime(*revoked);
  return token;
}

/// Without an id it gets the next one.
void InsertAuditRow(Connection& connection, const AuditRecord& record) {
  const auto id = record.id > 0 ? std::optional(record.id) : std::nullopt;
  Query(connection,
        "INSERT INTO audit_entry (" LEADLINE_AUDIT_COLUMNS
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        id, ToNumber(record.at), record.who, record.call, record.target,
        record.outcome, record.message, record.count)
      .Finish();
}

}  // namespace

absl::StatusOr<TokenRecord> InsertToken(Connection& connection,
                                        TokenRecord token) {
  {
    Query known(connection,
                "SELECT " LEADLINE_TOKEN_COLUMNS " FROM token WHERE hash = ?",
                token.hash);
    if (known.Next()) return ReadToken(known);
  }
  Query(connection,
        "INSERT INTO token (name, role, hash, created_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?)",
        token.name, std::string(Name(token.role)), token.hash,
        ToNumber(token.created_at), ToNumber(token.expires_at))
      .Finish();
  token.id = connection.database().getLastInsertRowid();
  return token;
}

absl::StatusOr<TokenRecord> UpdateRevoked(Connection& connection, int64_t id,
                                          WallTime at) {
  Query(connection,
        "UPDATE token SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
        ToNumber(at), id)
      .Finish();
  Query query(connection,
              "SELECT " LEADLINE_TOKEN_COLUMNS " FROM token WHERE id = ?", id);
  if (!query.Next()) return absl::NotFoundError("no token " + TokenText(id));
  return ReadToken(query);
}

absl::StatusOr<std::vector<TokenRecord>> SelectTokens(Connection& connection) {
  Query query(connection,
              "SELECT " LEADLINE_TOKEN_COLUMNS " FROM token ORDER BY id");
  std::vector<TokenRecord> all;
  while (query.Next()) {
    auto token = ReadToken(query);
    if (!token.ok()) return token.status();
    all.push_back(*std::move(token));
  }
  return all;
}

void InsertAudit(Connection& connection, std::span<const AuditRecord> records) {
  for (const AuditRecord& record : records) InsertAuditRow(connection, record);
  Query(connection,
        "DELETE FROM audit_entry WHERE id <= "
        "(SELECT max(id) FROM audit_entry) - ?",
        kMostAuditRecords)
      .Finish();
}

std::vector<AuditRecord> SelectAudit(Connection& connection,
                                     std::optional<int64_t> before,
                                     int64_t limit) {
  Query query(connection,
              "SELECT " LEADLINE_AUDIT_COLUMNS
              " FROM audit_entry WHERE id < ? ORDER BY id DESC LIMIT ?",
              before.value_or(std::numeric_limits<int64_t>::max()), limit);
  std::vector<AuditRecord> page;
  while (query.Next()) {
    AuditRecord& record = page.emplace_back();
    int64_t at = 0;
    query.Read(record.id, at, record.who, record.call, record.target,
               record.outcome, record.message, record.count);
    record.at = ToTime(at);
  }
  return page;
}

void ReplaceTokens(Connection& connection,
                   std::span<const TokenRecord> tokens) {
  connection.Execute("DELETE FROM token");
  for (const TokenRecord& token : tokens) {
    Query(connection,
          "INSERT INTO token (" LEADLINE_TOKEN_COLUMNS
          ") VALUES (?, ?, ?, ?, ?, ?, ?)",
          token.id, token.name, std::string(Name(token.role)), token.hash,
          ToNumber(token.created_at), ToNumber(token.expires_at),
          ToNumber(token.revoked_at))
        .Finish();
  }
}

void ReplaceAudit(Connection& connection,
                  std::span<const AuditRecord> records) {
  connection.Execute("DELETE FROM audit_entry");
  for (const AuditRecord& record : records) InsertAuditRow(connection, record);
}

}  // namespace leadline::storage::sqlite
