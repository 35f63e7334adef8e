// How two ranks make sure that they belong to one attempt. Pure but for Nonce.
//
// Each side sends a Hello, which says nothing of it, then what it is beside a
// code that only one who knows the secret can make for these two Hellos. The
// secret itself never travels.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leadline::collective {

/// Whoever changes what ranks send each other raises it.
inline constexpr uint32_t kProtocolVersion = 1;

/// What a rank says of itself.
struct Introduction {
  uint32_t version = kProtocolVersion;
  int64_t size = 1;
  int64_t rank = 0;
  std::string settings_hash;
  std::string data_hash;
  bool operator==(const Introduction&) const = default;
};

inline constexpr size_t kNonceBytes = 16;
inline constexpr size_t kHelloBytes = 8 + kNonceBytes;
inline constexpr size_t kCodeBytes = 32;
/// Longer introductions are refused.
inline constexpr size_t kMostIntroductionBytes = 1024;

using Nonce = std::array<std::byte, kNonceBytes>;
using Hello = std::array<std::byte, kHelloBytes>;

/// Fresh chance of the system. Throws std::system_error.
Nonce FreshNonce();

Hello EncodeHello(const Nonce& nonce);
/// Null where no rank speaks.
std::optional<Nonce> DecodeHello(const Hello& hello);

enum class Side : uint8_t { kDials = 'D', kAnswers = 'A' };

/// The code of `body`, 32 bytes: HMAC-SHA-256 under the secret over the side
/// that speaks, its nonce, the other's nonce and the body.
std::string CodeOf(std::string_view secret, Side speaker, const Nonce& own,
                   const Nonce& other, std::string_view body);

/// In time that does not depend on where they differ.
bool SameCode(std::string_view one, std::string_view other);

std::string EncodeBody(const Introduction& introduction);
/// Null for what is none. Of another version only the version is read.
std::optional<Introduction> DecodeBody(std::string_view body);

/// What keeps the two from training together, both values named; empty if
/// nothing does.
std::string WhyNotTogether(const Introduction& mine,
                           const Introduction& theirs);

}  // namespace leadline::collective
