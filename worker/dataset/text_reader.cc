#include "worker/dataset/text_reader.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/spec/dataset_limit.h"
#include "worker/dataset/data_error.h"

namespace leadline::dataset {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20U;

class OpenFile {
 public:
  // Non-blocking, so that a FIFO put in the file's place cannot hold us.
  explicit OpenFile(const std::filesystem::path& path)
      : path_(path.string()),
        descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) Fail();
    if (!S_ISREG(status.st_mode)) {
      close(descriptor_);
      throw DataError("cannot read " + path_ + ": not a regular file");
    }
    if (status.st_size > spec::kMostDatasetBytes) {
      close(descriptor_);
      throw DataError("cannot read " + path_ + ": it has " +
                      std::to_string(status.st_size) +
                      " bytes, a data set may have " +
                      std::to_string(spec::kMostDatasetBytes));
    }
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(descriptor_); }

  size_t Read(char* to, size_t room) const {
    for (;;) {
      const ssize_t count = read(descriptor_, to, room);
      if (count >= 0) return static_cast<size_t>(count);
      if (errno != EINTR) Fail();
    }
  }

 private:
  [[noreturn]] void Fail() const {
    throw DataError("cannot read " + path_ + ": " + std::strerror(errno));
  }

  std::string path_;
  int descriptor_;
};

constexpr std::string_view kMd5Prefix = "md5:";

class ContentHash {
 public:
  explicit ContentHash(bool md5)
      : prefix_(md5 ? kMd5Prefix : ""), state_(EVP_MD_CTX_new()) {
    Check(EVP_DigestInit_ex(state_.get(), md5 ? EVP_md5() : EVP_sha256(),
                            nullptr));
  }

  void Add(std::string_view bytes) {
    Check(EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size()));
  }

  std::string Finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    Check(EVP_DigestFinal_ex(state_.get(), digest.data(), &size));
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text(prefix_);
    for (unsigned i = 0; i < size; ++i) {
      text += kDigits[digest[i] >> 4U];
      text += kDigits[digest[i] & 15U];
    }
    return text;
  }

 private:
  static void Check(int result) {
    if (result != 1) throw std::runtime_error("OpenSSL refuses to hash");
  }
  struct Free {
    void operator()(EVP_MD_CTX* state) const { EVP_MD_CTX_free(state); }
  };

  std::string_view prefix_;
  std::unique_ptr<EVP_MD_CTX, Free> state_;
};

}  // namespace

std::string ReadAndHash(const std::filesystem::path& path,
                        std::string_view like,
                        const std::function<void(std::string_view)>& take) {
  const OpenFile file(path);
  ContentHash hash(like.starts_with(kMd5Prefix));
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const size_t count = file.Read(piece.data(), piece.size());
    if (count == 0) return hash.Finish();
    const std::string_view bytes(piece.data(), count);
    hash.Add(bytes);
    take(bytes);
  }
}

std::string HashFile(const std::filesystem::path& path, std::string_view like) {
  return ReadAndHash(path, like, [](std::string_view) {});
}

}  // namespace leadline::dataset
