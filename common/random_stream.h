// Named random streams: every draw is a pure function of (seed, stream, index),
// so nothing shifts when a parameter, a method or a replica is added.

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace leadline {

/// One block of Philox4x32-10 (Salmon et al. 2011): 128 counter bits and 64 key
/// bits in, four uniform words out.
std::array<uint32_t, 4> Philox(const std::array<uint32_t, 4>& counter,
                               const std::array<uint32_t, 2>& key);

/// FNV-1a, 64 bits, of the bytes of `text`.
uint64_t Fnv1a(std::string_view text);

/// The draws of one stream, "purpose/name", under one seed. A value: copying
/// costs nothing and there is no state to keep.
class RandomStream {
 public:
  RandomStream(uint64_t seed, std::string_view stream)
      : seed_(seed), id_(Fnv1a(stream)) {}

  /// Word `i`, uniform over 32 bits.
  uint32_t Word(uint64_t i) const;

  /// Uniform in (0, 1), from word `i`.
  double Uniform(uint64_t i) const;

  /// Standard normal number `i` (Box-Muller over words 2k, 2k+1, k = i/2).
  double Normal(uint64_t i) const;

  /// Words `first`, `first` + 1, ..., as Word gives them; one block for four.
  void Words(uint64_t first, std::span<uint32_t> words) const;

  /// Normals `first`, `first` + 1, ..., as Normal gives them.
  void Normals(uint64_t first, std::span<double> normals) const;

  /// Integer number `i`, uniform in [0, below); `below` is at least 1.
  uint64_t Integer(uint64_t i, uint64_t below) const;

 private:
  std::array<uint32_t, 4> Block(uint64_t number) const;

  uint64_t seed_;
  uint64_t id_;
};

}  // namespace leadline
