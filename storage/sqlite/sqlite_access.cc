#include "storage/sqlite/access_rows.h"
#include "storage/sqlite/sqlite_store.h"

namespace leadline::storage::sqlite {

template <typename Work>
auto SqliteStore::InTransaction(const std::string& doing, const Work& work)
    -> decltype(work()) {
  const std::lock_guard lock(mutex_);
  auto done = Run(doing, [&] {
    connection_->Execute("BEGIN IMMEDIATE");
    auto result = work();
    if (result.ok()) connection_->Execute("COMMIT");
    return result;
  });
  if (!done.ok()) connection_->Rollback();
  return done;
}

absl::StatusOr<TokenRecord> SqliteStore::AddToken(TokenRecord token) {
  return InTransaction("writing a token",
                       [&] { return InsertToken(*connection_, token); });
}

absl::StatusOr<TokenRecord> SqliteStore::RevokeToken(int64_t id, WallTime at) {
  return InTransaction("revoking token " + TokenText(id),
                       [&] { return UpdateRevoked(*connection_, id, at); });
}

absl::StatusOr<std::vector<TokenRecord>> SqliteStore::ListTokens() const {
  const std::lock_guard lock(mutex_);
  return Run("reading tokens", [&] { return SelectTokens(*connection_); });
}

absl::Status SqliteStore::AddAudit(std::span<const AuditRecord> records) {
  return InTransaction("writing the audit", [&] {
    InsertAudit(*connection_, records);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<AuditRecord>> SqliteStore::ListAudit(
    std::optional<int64_t> before, int64_t limit) const {
  const std::lock_guard lock(mutex_);
  using Page = std::vector<AuditRecord>;
  return Run("reading the audit", [&]() -> absl::StatusOr<Page> {
    return SelectAudit(*connection_, before, limit);
  });
}

}  // namespace leadline::storage::sqlite
