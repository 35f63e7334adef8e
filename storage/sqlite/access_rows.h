// Rows of tokens and of the audit, inside the transaction the caller opened.

#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "storage/access_store.h"
#include "storage/sqlite/connection.h"

namespace leadline::storage::sqlite {

/// All throw SQLite::Exception where SQLite fails; see AccessStore.
absl::StatusOr<TokenRecord> InsertToken(Connection& connection,
                                        TokenRecord token);
absl::StatusOr<TokenRecord> UpdateRevoked(Connection& connection, int64_t id,
                                          WallTime at);
absl::StatusOr<std::vector<TokenRecord>> SelectTokens(Connection& connection);
void InsertAudit(Connection& connection, std::span<const AuditRecord> records);
std::vector<AuditRecord> SelectAudit(Connection& connection,
                                     std::optional<int64_t> before,
                                     int64_t limit);

/// In the place of all there are, with the ids they have.
void ReplaceTokens(Connection& connection, std::span<const TokenRecord> tokens);
void ReplaceAudit(Connection& connection, std::span<const AuditRecord> records);

}  // namespace leadline::storage::sqlite
