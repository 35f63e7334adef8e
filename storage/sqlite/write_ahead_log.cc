#include "storage/sqlite/write_ahead_log.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <vector>

namespace leadline::storage::sqlite {
namespace {

// https://www.sqlite.org/fileformat.html section 4: a header of 32 bytes, then
// frames of a 24-byte header and a page. A frame is valid if its salt is the
// log's and the checksum over everything up to it holds; it counts once a
// commit frame (one that states the size of the database) follows.
constexpr size_t kLogHeader = 32;
constexpr size_t kFrameHeader = 24;
constexpr size_t kDatabaseHeader = 100;

uint32_t BigEndian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 |
         uint32_t{bytes[2]} << 8 | uint32_t{bytes[3]};
}

uint32_t LittleEndian(const unsigned char* bytes) {
  return uint32_t{bytes[3]} << 24 | uint32_t{bytes[2]} << 16 |
         uint32_t{bytes[1]} << 8 | uint32_t{bytes[0]};
}

class Checksum {
 public:
  explicit Checksum(bool big_endian) : big_endian_(big_endian) {}

  void Add(const unsigned char* bytes, size_t size) {
    const auto word = big_endian_ ? BigEndian : LittleEndian;
    for (size_t i = 0; i + 8 <= size; i += 8) {
      first_ += word(bytes + i) + second_;
      second_ += word(bytes + i + 4) + first_;
    }
  }

  bool Equals(const unsigned char* stored) const {
    return first_ == BigEndian(stored) && second_ == BigEndian(stored + 4);
  }

 private:
  bool big_endian_;
  uint32_t first_ = 0;
  uint32_t second_ = 0;
};

bool Read(std::ifstream& file, std::vector<unsigned char>& bytes) {
  file.read(reinterpret_cast<char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  return file.gcount() == static_cast<std::streamsize>(bytes.size());
}

}  // namespace

std::optional<std::string> HeaderInLog(const std::filesystem::path& log) {
  std::ifstream file(log, std::ios::binary);
  std::vector<unsigned char> header(kLogHeader);
  if (!file || !Read(file, header)) return std::nullopt;
  const uint32_t magic = BigEndian(header.data());
  const uint32_t page_bytes = BigEndian(&header[8]);
  if ((magic & ~1U) != 0x377f0682 || page_bytes < 512 || page_bytes > 65536) {
    return std::nullopt;
  }
  Checksum checksum((magic & 1U) != 0);
  checksum.Add(header.data(), 24);
  if (!checksum.Equals(&header[24])) return std::nullopt;

  std::optional<std::string> committed;
  std::optional<std::string> pending;
  std::vector<unsigned char> frame(kFrameHeader + page_bytes);
  while (Read(file, frame)) {
    const bool same_salt =
        std::equal(&header[16], &header[24], frame.data() + 8);
    checksum.Add(frame.data(), 8);
    checksum.Add(&frame[kFrameHeader], page_bytes);
    if (!same_salt || !checksum.Equals(&frame[16])) break;
    if (BigEndian(frame.data()) == 1) {
      pending.emplace(reinterpret_cast<const char*>(&frame[kFrameHeader]),
                      kDatabaseHeader);
    }
    if (BigEndian(&frame[4]) != 0 && pending) committed = pending;
  }
  return committed;
}

}  // namespace leadline::storage::sqlite
