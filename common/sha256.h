// SHA-256, the identity of data and of settings.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace leadline {

/// Hashes bytes as they come. Owned by one thread.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Add(std::string_view bytes);

  /// 64 lower-case hexadecimal digits. Call once, last.
  std::string Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True for 64 lower-case hexadecimal digits.
bool IsSha256(std::string_view text);

/// The hash of `bytes` in one call.
std::string Sha256Of(std::string_view bytes);

}  // namespace leadline
