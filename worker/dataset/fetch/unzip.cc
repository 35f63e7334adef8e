#include "worker/dataset/fetch/unzip.h"

#include <memory>
#include <vector>

#include <zip.h>

#include "worker/dataset/data_error.h"

namespace leadline::dataset {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 18U;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

[[noreturn]] void Fail(const std::filesystem::path& archive,
                       const std::string& why) {
  throw DataError("cannot unpack " + archive.string() + ": " + why);
}

std::unique_ptr<zip_t, Discard> OpenArchive(const std::filesystem::path& path) {
  int code = 0;
  std::unique_ptr<zip_t, Discard> archive(
      zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (archive) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  Fail(path, why);
}

}  // namespace

void Unzip(const std::filesystem::path& path, const std::string& entry,
           int64_t bytes, const std::function<void(std::string_view)>& take) {
  const auto archive = OpenArchive(path);
  const zip_int64_t index =
      zip_name_locate(archive.get(), entry.c_str(), ZIP_FL_ENC_RAW);
  if (index < 0) Fail(path, "it holds no file " + entry);
  const auto number = static_cast<zip_uint64_t>(index);
  zip_stat_t status;
  zip_stat_init(&status);
  // What the archive says of itself costs nothing to check.
  if (zip_stat_index(archive.get(), number, 0, &status) != 0 ||
      (status.valid & ZIP_STAT_SIZE) == 0 ||
      status.size != static_cast<zip_uint64_t>(bytes)) {
    Fail(path, entry + " in it has another size than " + std::to_string(bytes) +
                   " bytes");
  }
  const std::unique_ptr<zip_file_t, Discard> file(
      zip_fopen_index(archive.get(), number, 0));
  if (!file) Fail(path, zip_strerror(archive.get()));
  std::vector<char> piece(kPieceBytes);
  int64_t left = bytes;
  for (;;) {
    const zip_int64_t count = zip_fread(file.get(), piece.data(), piece.size());
    if (count < 0) Fail(path, zip_file_strerror(file.get()));
    if (count == 0) break;
    // And it may lie.
    if (count > left) {
      Fail(path, entry + " in it is longer than it says");
    }
    left -= count;
    take({piece.data(), static_cast<size_t>(count)});
  }
  if (left > 0) Fail(path, entry + " in it is shorter than it says");
}

}  // namespace leadline::dataset
