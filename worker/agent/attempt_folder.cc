#include "worker/agent/attempt_folder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "worker/agent/file_descriptor.h"
#include "worker/agent/strict_json.h"
#include "worker/dataset/whole_file.h"

namespace leadline::agent {
namespace {

using nlohmann::json;

constexpr size_t kMostRecordBytes = 4096;
constexpr std::string_view kRankPrefix = "rank-";

absl::Status Failure(const std::string& doing,
                     const std::filesystem::path& path) {
  return absl::UnavailableError(doing + " " + path.string() + ": " +
                                std::strerror(errno));
}

}  // namespace

absl::Status MoveAside(const std::filesystem::path& folder) {
  for (int k = 1;; ++k) {
    const std::filesystem::path aside =
        folder.string() + ".old-" + std::to_string(k);
    struct stat info {};
    if (lstat(aside.c_str(), &info) == 0) continue;
    if (rename(folder.c_str(), aside.c_str()) == 0) return absl::OkStatus();
    return Failure("cannot move aside", folder);
  }
}

std::filesystem::path AttemptFolder(const std::filesystem::path& state,
                                    const AttemptKey& attempt) {
  return state / "attempts" / ToText(attempt);
}

std::filesystem::path RankFolder(const std::filesystem::path& folder,
                                 int64_t rank, int64_t first_rank) {
  if (rank == first_rank) return folder;
  return folder / (std::string(kRankPrefix) + std::to_string(rank));
}

std::filesystem::path FindRankFolder(const std::filesystem::path& folder,
                                     int64_t rank) {
  const auto below = folder / (std::string(kRankPrefix) + std::to_string(rank));
  struct stat info {};
  return lstat(below.c_str(), &info) == 0 && S_ISDIR(info.st_mode) ? below
                                                                   : folder;
}

std::optional<int64_t> RankOfFolder(const std::string& name) {
  const std::string digits =
      name.starts_with(kRankPrefix) ? name.substr(kRankPrefix.size()) : "";
  if (digits.empty() || digits.size() > 4 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoll(digits);
}

absl::Status MakeAttemptFolder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (mkdir(folder.c_str(), 0700) == 0) return absl::OkStatus();
  if (errno != EEXIST) return Failure("cannot make", folder);
  if (absl::Status status = MoveAside(folder); !status.ok()) return status;
  if (mkdir(folder.c_str(), 0700) == 0) return absl::OkStatus();
  return Failure("cannot make", folder);
}

absl::Status WriteFile(const std::filesystem::path& path,
                       const std::string& text) {
  try {
    dataset::WriteWholeFile(path, text);
    return absl::OkStatus();
  } catch (const std::system_error& error) {
    return absl::UnavailableError("cannot write " + path.string() + ": " +
                                  error.what());
  }
}

std::string ReadEnd(const std::filesystem::path& path, size_t most) {
  const FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0) return {};
  const auto size = static_cast<size_t>(info.st_size);
  std::string text(std::min(size, most), '\0');
  const ssize_t got = pread(file.get(), text.data(), text.size(),
                            static_cast<off_t>(size - text.size()));
  text.resize(static_cast<size_t>(got > 0 ? got : 0));
  return text;
}

absl::Status WriteProcessRecord(const std::filesystem::path& folder,
                                const ProcessRecord& record) {
  const json text = {{"boot_id", record.boot_id},
                     {"pid", record.pid},
                     {"start_time", record.start_time},
                     {"pgid", record.group},
                     {"attempt", record.attempt}};
  return WriteFile(folder / "process.json", text.dump() + "\n");
}

std::optional<ProcessRecord> ReadProcessRecord(
    const std::filesystem::path& folder) {
  const auto text =
      ParseStrictJson(ReadEnd(folder / "process.json", kMostRecordBytes));
  if (!text.ok()) return std::nullopt;
  ProcessRecord record;
  try {
    record.boot_id = text->at("boot_id").get<std::string>();
    record.pid = text->at("pid").get<pid_t>();
    record.start_time = text->at("start_time").get<uint64_t>();
    record.group = text->at("pgid").get<pid_t>();
    record.attempt = text->at("attempt").get<std::string>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
  // Signals to groups 0 and 1 would go to ourselves or to everyone.
  if (record.pid <= 1 || record.group <= 1) return std::nullopt;
  return record;
}

}  // namespace leadline::agent
