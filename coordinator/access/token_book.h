// The tokens there are, in memory, and whether one that is shown is one of
// them.

#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>

#include "storage/access_store.h"

namespace leadline::access {

/// A token is "llt3_" and 64 hexadecimal digits: its id and 256 random bits.
/// What is stored is SHA-256 of the digits. A slow hash would add nothing: it
/// makes guessing dear, and there is no guessing 256 random bits.
struct ShownToken {
  int64_t id = 0;
  std::string secret;
};

/// Null for what is no token.
std::optional<ShownToken> ParseToken(std::string_view text);

/// What ParseToken reads.
std::string TokenSecretText(int64_t id, std::string_view secret);

/// Thread-safe.
class TokenBook {
 public:
  explicit TokenBook(const std::vector<storage::TokenRecord>& tokens);

  /// Adds the token, or replaces what is known of it.
  void Put(const storage::TokenRecord& token);

  /// There is or was one: from then on calls over a network show theirs.
  bool IsInUse() const;

  /// One could be shown now and would be taken.
  bool HasValid(storage::WallTime now) const;

  /// The token that was shown. Unauthenticated, saying why, unless it is known,
  /// neither revoked nor expired; only who has the secret is told which.
  absl::StatusOr<storage::TokenRecord> Check(std::string_view shown,
                                             storage::WallTime now) const;

  /// False if it was revoked or has expired.
  bool IsValid(int64_t id, storage::WallTime now) const;

 private:
  mutable std::mutex mutex_;
  std::map<int64_t, storage::TokenRecord> tokens_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace leadline::access
