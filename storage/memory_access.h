// The record of access in memory: for tests and simulation.

#pragma once

#include <deque>
#include <map>
#include <mutex>

#include <absl/base/thread_annotations.h>

#include "storage/access_store.h"

namespace leadline::storage {

class MemoryAccess final : public AccessStore {
 public:
  absl::StatusOr<TokenRecord> AddToken(TokenRecord token) override;
  absl::StatusOr<TokenRecord> RevokeToken(int64_t id, WallTime at) override;
  absl::StatusOr<std::vector<TokenRecord>> ListTokens() const override;
  absl::Status AddAudit(std::span<const AuditRecord> records) override;
  absl::StatusOr<std::vector<AuditRecord>> ListAudit(
      std::optional<int64_t> before, int64_t limit) const override;

 private:
  mutable std::mutex mutex_;
  std::map<int64_t, TokenRecord> tokens_ ABSL_GUARDED_BY(mutex_);
  std::deque<AuditRecord> audit_ ABSL_GUARDED_BY(mutex_);  // oldest first
  int64_t last_audit_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace leadline::storage
