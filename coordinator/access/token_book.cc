#include "coordinator/access/token_book.h"

#include <algorithm>
#include <optional>

#include <absl/status/status.h>
#include <openssl/crypto.h>

#include "common/sha256.h"

namespace leadline::access {
namespace {

constexpr std::string_view kPrefix = "ll";
constexpr size_t kDigits = 64;

bool IsHexadecimal(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

/// Takes the same time whatever and wherever the difference is.
bool AreEqual(const std::string& a, const std::string& b) {
  return a.size() == b.size() &&
         CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

bool IsValid(const storage::TokenRecord& token, storage::WallTime now) {
  return !token.revoked_at && (!token.expires_at || now < *token.expires_at);
}

}  // namespace

std::optional<ShownToken> ParseToken(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const size_t end = text.find('_');
  if (end == std::string_view::npos) return std::nullopt;
  const auto id = storage::ParseTokenText(std::string(text.substr(0, end)));
  const std::string_view secret = text.substr(end + 1);
  if (!id || secret.size() != kDigits || !IsHexadecimal(secret)) {
    return std::nullopt;
  }
  return ShownToken{*id, std::string(secret)};
}

std::string TokenSecretText(int64_t id, std::string_view secret) {
  return std::string(kPrefix) + storage::TokenText(id) + "_" +
         std::string(secret);
}

TokenBook::TokenBook(const std::vector<storage::TokenRecord>& tokens) {
  for (const storage::TokenRecord& token : tokens) Put(token);
}

void TokenBook::Put(const storage::TokenRecord& token) {
  const std::lock_guard lock(mutex_);
  tokens_[token.id] = token;
}

bool TokenBook::IsInUse() const {
  const std::lock_guard lock(mutex_);
  return !tokens_.empty();
}

bool TokenBook::HasValid(storage::WallTime now) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(tokens_.begin(), tokens_.end(), [&](const auto& entry) {
    return access::IsValid(entry.second, now);
  });
}

absl::StatusOr<storage::TokenRecord> TokenBook::Check(
    std::string_view shown, storage::WallTime now) const {
  const auto parsed = ParseToken(shown);
  if (!parsed) {
    return absl::UnauthenticatedError(
        "what was shown is no token: one looks like llt1_ and 64 digits");
  }
  const std::string hash = Sha256Of(parsed->secret);
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(parsed->id);
  if (found == tokens_.end() || !AreEqual(found->second.hash, hash)) {
    return absl::UnauthenticatedError(
        "the token is not known here; an admin makes one with `leadline token "
        "create`");
  }
  const storage::TokenRecord& token = found->second;
  const std::string name = storage::TokenText(token.id);
  if (token.revoked_at) {
    return absl::UnauthenticatedError("the token " + name + " was revoked at " +
                                      storage::ToText(*token.revoked_at));
  }
  if (token.expires_at && now >= *token.expires_at) {
    return absl::UnauthenticatedError("the token " + name + " expired at " +
                                      storage::ToText(*token.expires_at));
  }
  return token;
}

bool TokenBook::IsValid(int64_t id, storage::WallTime now) const {
  const std::lock_guard lock(mutex_);
  const auto found = tokens_.find(id);
  return found != tokens_.end() && access::IsValid(found->second, now);
}

}  // namespace leadline::access
