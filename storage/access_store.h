// The durable record of who may come in, and of who did what.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "common/access_role.h"
#include "storage/records.h"

namespace leadline::storage {

/// The secret itself is nowhere.
struct TokenRecord {
  int64_t id = 0;
  std::string name;  // a label
  AccessRole role = AccessRole::kRead;
  std::string hash;  // SHA-256 of the secret, 64 hexadecimal digits
  WallTime created_at{};
  std::optional<WallTime> expires_at;
  std::optional<WallTime> revoked_at;

  bool operator==(const TokenRecord&) const = default;
};

/// "t3", as people see it.
std::string TokenText(int64_t id);

/// Reads what TokenText wrote; null for other text.
std::optional<int64_t> ParseTokenText(const std::string& text);

struct AuditRecord {
  int64_t id = 0;  // given by the store
  WallTime at{};
  std::string who;      // "t3 ci", "local user ana", "nobody"
  std::string call;     // "Submit", "GET /metrics"
  std::string target;   // "s12"; may be empty
  std::string outcome;  // "OK", else a status: "PERMISSION_DENIED"
  std::string message;  // of a call that failed
  int64_t count = 1;    // equal refusals, told in one row

  bool operator==(const AuditRecord&) const = default;
};

/// The newest that are kept: some weeks of a busy group, some 50 MB.
inline constexpr int64_t kMostAuditRecords = 200'000;

/// Values in, values out; each call is one transaction, on disk when it
/// returns. Thread-safe. Unavailable: the disk refused, and the same call may
/// succeed later.
class AccessStore {
 public:
  virtual ~AccessStore() = default;

  /// Gives the token an id. One that has the same hash is that token: it is
  /// returned as it is stored, so that asking twice makes one.
  virtual absl::StatusOr<TokenRecord> AddToken(TokenRecord token) = 0;

  /// The first time stands. NotFound if there is no such token.
  virtual absl::StatusOr<TokenRecord> RevokeToken(int64_t id, WallTime at) = 0;

  /// All that ever were, by id.
  virtual absl::StatusOr<std::vector<TokenRecord>> ListTokens() const = 0;

  /// Adds them in order, and forgets what is too old to be kept.
  virtual absl::Status AddAudit(std::span<const AuditRecord> records) = 0;

  /// Newest first, those older than `before` where it is given.
  virtual absl::StatusOr<std::vector<AuditRecord>> ListAudit(
      std::optional<int64_t> before, int64_t limit) const = 0;
};

}  // namespace leadline::storage
