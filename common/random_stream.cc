#include "common/random_stream.h"

#include <cmath>
#include <numbers>

namespace leadline {
namespace {

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

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

double RandomStream::Uniform(uint64_t i) const {
  return (Word(i) + 0.5) * 0x1p-32;
}

double RandomStream::Normal(uint64_t i) const {
  const uint64_t k = i / 2;
  const std::array<uint32_t, 4> block = Block(k / 2);
  const double u = (block[2 * (k % 2)] + 0.5) * 0x1p-32;
  const double v = (block[2 * (k % 2) + 1] + 0.5) * 0x1p-32;
  const double radius = std::sqrt(-2.0 * std::log(u));
  const double angle = 2.0 * std::numbers::pi * v;
  return radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

uint64_t RandomStream::Integer(uint64_t i, uint64_t below) const {
  const uint64_t y = Word(2 * i) + (uint64_t{Word(2 * i + 1)} << 32);
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>((static_cast<Wide>(y) * below) >> 64);
}

}  // namespace leadline
