#include "storage/memory_access.h"

#include <algorithm>
#include <ranges>

namespace leadline::storage {

absl::StatusOr<TokenRecord> MemoryAccess::AddToken(TokenRecord token) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, known] : tokens_) {
    if (known.hash == token.hash) return known;
  }
  token.id = tokens_.empty() ? 1 : tokens_.rbegin()->first + 1;
  return tokens_[token.id] = std::move(token);
}

absl::StatusOr<TokenRecord> MemoryAccess::RevokeToken(int64_t id, WallTime at) {
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(id);
  if (found == tokens_.end()) {
    return absl::NotFoundError("no token " + TokenText(id));
  }
  if (!found->second.revoked_at) found->second.revoked_at = at;
  return found->second;
}

absl::StatusOr<std::vector<TokenRecord>> MemoryAccess::ListTokens() const {
  const std::lock_guard lock(mutex_);
  std::vector<TokenRecord> all;
  for (const auto& [id, token] : tokens_) all.push_back(token);
  return all;
}

absl::Status MemoryAccess::AddAudit(std::span<const AuditRecord> records) {
  const std::lock_guard lock(mutex_);
  for (AuditRecord record : records) {
    record.id = ++last_audit_;
    audit_.push_back(std::move(record));
    if (std::ssize(audit_) > kMostAuditRecords) audit_.pop_front();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<AuditRecord>> MemoryAccess::ListAudit(
    std::optional<int64_t> before, int64_t limit) const {
  const std::lock_guard lock(mutex_);
  std::vector<AuditRecord> page;
  for (const AuditRecord& record : std::views::reverse(audit_)) {
    if (std::ssize(page) >= limit) break;
    if (!before || record.id < *before) page.push_back(record);
  }
  return page;
}

}  // namespace leadline::storage
