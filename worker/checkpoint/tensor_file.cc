#include "worker/checkpoint/tensor_file.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "worker/checkpoint/bad_checkpoint.h"

namespace leadline::checkpoint {
namespace {

constexpr int64_t kLengthBytes = 8;
constexpr int64_t kPieceBytes = int64_t{1} << 20U;

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    number |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i]))
              << (8 * i);
  }
  return number;
}

}  // namespace

TensorWriter::TensorWriter(const std::filesystem::path& file,
                           const std::vector<TensorInfo>& tensors)
    : file_(OpenFile::New(file)) {
  for (const TensorInfo& tensor : tensors) missing_ += tensor.bytes();
  Put(FormatTensorHeader(tensors));
}

void TensorWriter::Put(std::string_view bytes) {
  file_.Write(bytes);
  hash_.Add(bytes);
  bytes_ += static_cast<int64_t>(bytes.size());
}

void TensorWriter::Append(std::string_view bytes) {
  missing_ -= static_cast<int64_t>(bytes.size());
  Put(bytes);
}

FileEntry TensorWriter::Finish() {
  if (missing_ != 0) {
    throw std::logic_error(file_.path().string() + " lacks " +
                           std::to_string(missing_) + " bytes of its tensors");
  }
  file_.Sync();
  return {file_.path().filename().string(), bytes_, hash_.Finish()};
}

TensorReader::TensorReader(const OpenFile& folder, FileEntry expected)
    : file_(OpenFile::In(folder, expected.name)),
      expected_(std::move(expected)) {
  const int64_t bytes = file_.Bytes();
  if (bytes != expected_.bytes) {
    Refuse("has " + std::to_string(bytes) + " bytes, the manifest says " +
           std::to_string(expected_.bytes));
  }
  if (bytes < kLengthBytes) Refuse("is too short for a header");
  std::string length(kLengthBytes, '\0');
  file_.Read(length.data(), kLengthBytes);
  const uint64_t header_bytes = LittleEndian(length);
  left_ = bytes - kLengthBytes;
  if (header_bytes > static_cast<uint64_t>(left_) ||
      header_bytes > static_cast<uint64_t>(kMostHeaderBytes)) {
    Refuse("has a header of " + std::to_string(header_bytes) + " bytes");
  }
  std::string header(header_bytes, '\0');
  file_.Read(header.data(), static_cast<int64_t>(header_bytes));
  left_ -= static_cast<int64_t>(header_bytes);
  hash_.Add(length);
  hash_.Add(header);
  try {
    tensors_ = ParseTensorHeader(header, left_);
  } catch (const BadCheckpoint& bad) {
    throw BadCheckpoint(file_.path().string() + ": " + bad.what());
  }
}

void TensorReader::Refuse(const std::string& what) const {
  throw BadCheckpoint(file_.path().string() + " " + what);
}

void TensorReader::Read(char* to, int64_t size) {
  if (size > left_) throw std::logic_error("a read beyond the tensors");
  left_ -= size;
  // Piece by piece, so that what is hashed is still in the cache.
  while (size > 0) {
    const int64_t piece = std::min(size, kPieceBytes);
    file_.Read(to, piece);
    hash_.Add({to, static_cast<size_t>(piece)});
    to += piece;
    size -= piece;
  }
}

void TensorReader::Finish() {
  std::string rest(static_cast<size_t>(std::min(left_, kPieceBytes)), '\0');
  while (left_ > 0) {
    Read(rest.data(), std::min(left_, static_cast<int64_t>(rest.size())));
  }
  if (hash_.Finish() != expected_.sha256) {
    Refuse("is damaged: its hash is not the one of the manifest");
  }
}

}  // namespace leadline::checkpoint
