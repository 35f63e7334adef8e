#include "coordinator/rpc/local_logs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <absl/cleanup/cleanup.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace leadline::rpc {
namespace {

// Of the protocol: a chunk is below 64 KiB.
constexpr int64_t kMostBytes = int64_t{60} << 10;

std::string FileOf(const std::string& stream) {
  return stream == "events" ? "events.jsonl" : stream + ".log";
}

absl::StatusOr<LogPiece> ReadPiece(const std::filesystem::path& path,
                                   const LogQuery& query) {
  const int file =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  const absl::Cleanup close_file = [file] {
    if (file >= 0) close(file);
  };
  struct stat info {};
  LogPiece piece;
  if (file < 0 && errno == ENOENT) {
    std::error_code error;
    if (std::filesystem::exists(path.parent_path() / "held.json", error)) {
      piece.at_end = true;
      return piece;
    }
    return absl::NotFoundError(
        path.filename().string() + " of " +
        path.parent_path().filename().string() +
        " is not there: its trainer never started, or the file was removed by "
        "age or size (--keep-days and --keep-mb of the agent)");
  }
  piece.data.resize(
      static_cast<size_t>(std::clamp<int64_t>(query.limit, 1, kMostBytes)));
  const ssize_t got =
      file < 0 || fstat(file, &info) != 0
          ? -1
          : pread(file, piece.data.data(), piece.data.size(), query.offset);
  if (got < 0) {
    return absl::NotFoundError("cannot read " + path.string() + ": " +
                               std::strerror(errno));
  }
  piece.data.resize(static_cast<size_t>(got));
  piece.at_end = query.offset + got >= info.st_size;
  piece.size = info.st_size;
  return piece;
}

}  // namespace

void LocalLogs::ReadLog(const std::string& node, const LogQuery& query,
                        Found found) {
  const std::filesystem::path folder = attempts_ / ToText(query.attempt);
  background_.Post([this, node, query, folder,
                    found = std::move(found)](const std::stop_token&) mutable {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
      return others_.ReadLog(node, query, std::move(found));
    }
    const std::filesystem::path of_rank =
        folder / ("rank-" + std::to_string(query.rank));
    const bool is_first = !std::filesystem::is_directory(of_rank, error);
    found(
        ReadPiece((is_first ? folder : of_rank) / FileOf(query.stream), query));
  });
}

}  // namespace leadline::rpc
