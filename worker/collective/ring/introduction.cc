#include "worker/collective/ring/introduction.h"

#include <cerrno>
#include <system_error>

#include <sys/random.h>

#include "common/sha256.h"
#include "worker/collective/ring/byte_order.h"

namespace leadline::collective {
namespace {

constexpr std::string_view kMagic = "LEADRANK";
constexpr size_t kBlockBytes = 64;  // of SHA-256

int Digit(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

std::string Sha256Bytes(std::string_view bytes) {
  const std::string digits = Sha256Of(bytes);
  std::string hash;
  for (size_t i = 0; i < digits.size(); i += 2) {
    hash += static_cast<char>(Digit(digits[i]) * 16 + Digit(digits[i + 1]));
  }
  return hash;
}

std::string Hmac(std::string_view key, std::string_view message) {
  std::string block(key.size() > kBlockBytes ? Sha256Bytes(key)
                                             : std::string(key));
  block.resize(kBlockBytes, '\0');
  std::string inner = block;
  for (char& byte : inner) byte = static_cast<char>(byte ^ 0x36);
  std::string outer = block;
  for (char& byte : outer) byte = static_cast<char>(byte ^ 0x5c);
  return Sha256Bytes(outer + Sha256Bytes(inner + std::string(message)));
}

std::string_view BytesOf(const Nonce& nonce) {
  return {reinterpret_cast<const char*>(nonce.data()), nonce.size()};
}

void AppendNumber(std::string& to, uint64_t number) {
  std::array<std::byte, 4> bytes{};
  PutNumber(bytes.data(), number, bytes.size());
  to.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void AppendText(std::string& to, std::string_view text) {
  AppendNumber(to, text.size());
  to += text;
}

/// Reads from the front of what is left.
class Body {
 public:
  explicit Body(std::string_view bytes) : left_(bytes) {}

  std::optional<uint32_t> Number() {
    if (left_.size() < 4) return std::nullopt;
    const auto number = static_cast<uint32_t>(
        GetNumber(reinterpret_cast<const std::byte*>(left_.data()), 4));
    left_.remove_prefix(4);
    return number;
  }

  std::optional<std::string> Text() {
    const auto size = Number();
    if (!size || *size > left_.size()) return std::nullopt;
    std::string text(left_.substr(0, *size));
    left_.remove_prefix(*size);
    return text;
  }

  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

std::string Differ(const Introduction& theirs, const std::string& what,
                   const std::string& their_value,
                   const std::string& my_value) {
  return "rank " + std::to_string(theirs.rank) + " has the " + what + " " +
         their_value + ", this rank " + my_value;
}

}  // namespace

Nonce FreshNonce() {
  Nonce nonce{};
  if (getrandom(nonce.data(), nonce.size(), 0) !=
      static_cast<ssize_t>(nonce.size())) {
    throw std::system_error(errno, std::generic_category(),
                            "the system gives no random bytes");
  }
  return nonce;
}

Hello EncodeHello(const Nonce& nonce) {
  Hello hello{};
  for (size_t i = 0; i < kMagic.size(); ++i) {
    hello[i] = static_cast<std::byte>(kMagic[i]);
  }
  for (size_t i = 0; i < nonce.size(); ++i) hello[kMagic.size() + i] = nonce[i];
  return hello;
}

std::optional<Nonce> DecodeHello(const Hello& hello) {
  const std::string_view bytes(reinterpret_cast<const char*>(hello.data()),
                               hello.size());
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  Nonce nonce{};
  for (size_t i = 0; i < nonce.size(); ++i) nonce[i] = hello[kMagic.size() + i];
  return nonce;
}

std::string CodeOf(std::string_view secret, Side speaker, const Nonce& own,
                   const Nonce& other, std::string_view body) {
  std::string message(1, static_cast<char>(speaker));
  message += BytesOf(own);
  message += BytesOf(other);
  message += body;
  return Hmac(secret, message);
}

bool SameCode(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    difference |= static_cast<unsigned char>(one[i] ^ other[i]);
  }
  return difference == 0;
}

std::string EncodeBody(const Introduction& introduction) {
  std::string body;
  AppendNumber(body, introduction.version);
  AppendNumber(body, static_cast<uint64_t>(introduction.size));
  AppendNumber(body, static_cast<uint64_t>(introduction.rank));
  AppendText(body, introduction.settings_hash);
  AppendText(body, introduction.data_hash);
  return body;
}

std::optional<Introduction> DecodeBody(std::string_view bytes) {
  Body body(bytes);
  const auto version = body.Number();
  if (!version) return std::nullopt;
  Introduction read;
  read.version = *version;
  read.rank = -1;
  if (read.version != kProtocolVersion) return read;
  const auto size = body.Number();
  const auto rank = body.Number();
  auto settings_hash = body.Text();
  auto data_hash = body.Text();
  if (!size || !rank || !settings_hash || !data_hash || !body.at_end()) {
    return std::nullopt;
  }
  read.size = *size;
  read.rank = *rank;
  read.settings_hash = std::move(*settings_hash);
  read.data_hash = std::move(*data_hash);
  return read;
}

std::string WhyNotTogether(const Introduction& mine,
                           const Introduction& theirs) {
  if (theirs.version != mine.version) {
    return "another rank speaks version " + std::to_string(theirs.version) +
           " of the protocol between ranks, this rank " +
           std::to_string(mine.version);
  }
  if (theirs.size != mine.size) {
    return Differ(theirs, "world size", std::to_string(theirs.size),
                  std::to_string(mine.size));
  }
  if (theirs.rank >= mine.size || theirs.rank == mine.rank) {
    return "another process says that it is rank " +
           std::to_string(theirs.rank) + " of " + std::to_string(mine.size) +
           ", this one is rank " + std::to_string(mine.rank);
  }
  if (theirs.settings_hash != mine.settings_hash) {
    return Differ(theirs, "settings hash", theirs.settings_hash,
                  mine.settings_hash);
  }
  if (theirs.data_hash != mine.data_hash) {
    return Differ(theirs, "data hash", theirs.data_hash, mine.data_hash);
  }
  return {};
}

}  // namespace leadline::collective
