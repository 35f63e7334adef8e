#include "storage/sqlite/file_check.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "errors/error_code.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/write_ahead_log.h"

namespace leadline::storage::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr size_t kUserVersionAt = 60;
constexpr size_t kApplicationIdAt = 68;

absl::Status Refuse(const fs::path& path, const std::string& why,
                    ErrorCode code = ErrorCode::kStateUnusable) {
  return WithError(absl::FailedPreconditionError("cannot use " + path.string() +
                                                 " as the database: " + why),
                   code);
}

int32_t NumberAt(const std::string& header, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) {
    number = number << 8 | static_cast<unsigned char>(header[at + i]);
  }
  return static_cast<int32_t>(number);
}

absl::Status CheckHeader(const fs::path& path, const std::string& header) {
  if (header.size() < kHeaderBytes || !header.starts_with(kMagic)) {
    return Refuse(path,
                  "it is no SQLite database; name another file, or move this "
                  "one away",
                  ErrorCode::kForeignDatabase);
  }
  if (NumberAt(header, kApplicationIdAt) != kApplicationId) {
    return Refuse(path,
                  "it is the database of another program; name another file, "
                  "or move this one away",
                  ErrorCode::kForeignDatabase);
  }
  const int32_t version = NumberAt(header, kUserVersionAt);
  if (version < 1)
    return Refuse(path, "its header is damaged", ErrorCode::kDamaged);
  if (version > kSchemaVersion) {
    return Refuse(path,
                  "its schema is version " + std::to_string(version) +
                      " and this program knows versions up to " +
                      std::to_string(kSchemaVersion) + "; use a newer leadline",
                  ErrorCode::kNewerSchema);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadHeader(const fs::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Refuse(path, std::strerror(errno));
  std::string header(kHeaderBytes, '\0');
  file.read(header.data(), kHeaderBytes);
  header.resize(static_cast<size_t>(file.gcount()));
  return header;
}

}  // namespace

absl::StatusOr<FileKind> CheckFile(const fs::path& path) {
  std::error_code error;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!fs::is_directory(folder, error)) {
    return Refuse(path, "there is no folder " + folder.string());
  }
  const fs::path log = path.string() + "-wal";
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return Refuse(path, "it is not a regular file");
  }
  std::string header;
  if (fs::exists(status)) {
    absl::StatusOr<std::string> read = ReadHeader(path);
    if (!read.ok()) return read.status();
    header = *std::move(read);
  }
  if (header.empty()) {
    // SQLite would delete the log.
    if (!fs::exists(log, error)) return FileKind::kNew;
    return Refuse(path, "it is missing or empty, but its log " + log.string() +
                            " is there; put the database back, or move the log "
                            "away");
  }
  if (absl::Status ours = CheckHeader(path, header); !ours.ok()) return ours;
  if (const auto newer = HeaderInLog(log)) {
    if (absl::Status ours = CheckHeader(path, *newer); !ours.ok()) return ours;
  }
  return FileKind::kOurs;
}

}  // namespace leadline::storage::sqlite
