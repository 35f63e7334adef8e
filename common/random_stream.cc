#include "common/random_stream.h"

#include <cmath>
#include <numbers>

namespace leadline {
namespace {

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

double ToUniform(uint32_t word) { return (word + 0.5) * 0x1p-32; }

/// Normals 2k and 2k + 1 from words 2k and 2k + 1.
std::array<double, 2> BoxMuller(uint32_t first, uint32_t second) {
  const double radius = std::sqrt(-2.0 * std::log(ToUniform(first)));
  const double angle = 2.0 * std::numbers::pi * ToUniform(second);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

}  // namespace

std::array<uint32_t, 4> Philox(const std::array<uint32_t, 4>& counter,
                               const std::array<uint32_t, 2>& key) {
  std::array<uint32_t, 4> c = counter;
  std::array<uint32_t, 2> k = key;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c[2];
    c = {High(p1) ^ c[1] ^ k[0], Low(p1), High(p0) ^ c[3] ^ k[1], Low(p0)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  return c;
}

uint64_t Fnv1a(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  }
  return hash;
}

std::array<uint32_t, 4> RandomStream::Block(uint64_t number) const {
  return Philox({Low(number), High(number), Low(id_), High(id_)},
                {Low(seed_), High(seed_)});
}

uint32_t RandomStream::Word(uint64_t i) const { return Block(i / 4)[i % 4]; }

double RandomStream::Uniform(uint64_t i) const { return ToUniform(Word(i)); }

double RandomStream::Normal(uint64_t i) const {
  const std::array<uint32_t, 4> block = Block(i / 4);
  const uint64_t k = i % 4 / 2 * 2;
  return BoxMuller(block[k], block[k + 1])[i % 2];
}

void RandomStream::Words(uint64_t first, std::span<uint32_t> words) const {
  std::array<uint32_t, 4> block{};
  for (uint64_t i = 0; i < words.size(); ++i) {
    const uint64_t at = (first + i) % 4;
    if (i == 0 || at == 0) block = Block((first + i) / 4);
    words[i] = block[at];
  }
}

void RandomStream::Normals(uint64_t first, std::span<double> normals) const {
  std::array<double, 4> four{};
  for (uint64_t i = 0; i < normals.size(); ++i) {
    const uint64_t at = (first + i) % 4;
    if (i == 0 || at == 0) {
      const std::array<uint32_t, 4> block = Block((first + i) / 4);
      const std::array<double, 2> low = BoxMuller(block[0], block[1]);
      const std::array<double, 2> high = BoxMuller(block[2], block[3]);
      four = {low[0], low[1], high[0], high[1]};
    }
    normals[i] = four[at];
  }
}

uint64_t RandomStream::Integer(uint64_t i, uint64_t below) const {
  const uint64_t y = Word(2 * i) + (uint64_t{Word(2 * i + 1)} << 32);
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(y) * below) >> 64);
}

}  // namespace leadline
