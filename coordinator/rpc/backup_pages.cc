#include "coordinator/rpc/backup_pages.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <absl/status/status.h>
#include <fcntl.h>
#include <unistd.h>

namespace leadline::rpc {
namespace {

constexpr size_t kPieceBytes = size_t{256} << 10;
constexpr size_t kPiecesAPage = 8;

absl::Status Refused(const std::string& what) {
  return absl::UnavailableError(what + ": " + std::strerror(errno));
}

}  // namespace

BackupPages::BackupPages(const storage::StoreReader& reader,
                         std::filesystem::path folder,
                         std::atomic<bool>& is_made)
    : reader_(reader), folder_(std::move(folder)), is_made_(is_made) {}

BackupPages::~BackupPages() {
  if (file_ >= 0) close(file_);
}

absl::StatusOr<std::vector<v1::BackupPart>> BackupPages::Make() {
  if (is_made_.exchange(true)) {
    return absl::UnavailableError(
        "another backup is being made; try again when it is done");
  }
  const std::filesystem::path copy = folder_ / "backup.unfinished";
  const auto facts = reader_.BackUp(copy);
  if (facts.ok()) {
    file_ = open(copy.c_str(), O_RDONLY | O_CLOEXEC);
    unlink(copy.c_str());
  }
  is_made_ = false;
  if (!facts.ok()) return facts.status();
  if (file_ < 0) return Refused("opening " + copy.string());
  std::vector<v1::BackupPart> page(1);
  v1::BackupHeader& header = *page.front().mutable_header();
  header.set_bytes(facts->bytes);
  header.set_schema(facts->schema);
  for (const auto& [table, rows] : facts->rows) {
    (*header.mutable_rows())[table] = rows;
  }
  return page;
}

absl::StatusOr<std::vector<v1::BackupPart>> BackupPages::Next() {
  if (!std::exchange(begun_, true)) return Make();
  std::vector<v1::BackupPart> page;
  while (!ended_ && page.size() < kPiecesAPage) {
    std::string piece(kPieceBytes, '\0');
    const ssize_t size = read(file_, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Refused("reading the copy of the database");
    if (size == 0) {
      ended_ = true;
      page.emplace_back().mutable_end()->set_sha256(hash_.Finish());
      break;
    }
    piece.resize(static_cast<size_t>(size));
    hash_.Add(piece);
    page.emplace_back().set_data(std::move(piece));
  }
  return page;
}

}  // namespace leadline::rpc
