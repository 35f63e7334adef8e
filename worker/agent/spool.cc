#include "worker/agent/spool.h"

#include <algorithm>
#include <array>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include <sys/statvfs.h>

#include "common/ids.h"
#include "worker/agent/attempt_folder.h"
#include "worker/agent/checkpoint_folder.h"
#include "worker/agent/hold_record.h"

namespace leadline::agent {
namespace {

using std::chrono::system_clock;

constexpr std::array kSpoolFiles = {"events.jsonl", "stdout.log", "stderr.log"};
constexpr std::array kSmallFiles = {"config.json", "process.json", "told.json",
                                    "interrupted", "orders.sock",  "address"};

/// s1.2.c0@1, or one of those moved aside: s1.2.c0@1.old-1.
bool IsOfAnAttempt(const std::string& name) {
  const size_t aside = name.find(".old-");
  return ParseAttemptKey(name.substr(0, aside)).has_value();
}

/// Folders of further ranks.
std::vector<std::filesystem::path> RanksBelow(
    const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> ranks;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    if (RankOfFolder(entry->path().filename().string())) {
      ranks.push_back(entry->path());
    }
  }
  return ranks;
}

int64_t SpoolBytesOfOne(const std::filesystem::path& folder) {
  int64_t bytes = 0;
  for (const char* name : kSpoolFiles) {
    struct stat info {};
    if (lstat((folder / name).c_str(), &info) == 0) bytes += info.st_size;
  }
  return bytes;
}

int64_t SpoolBytes(const std::filesystem::path& folder) {
  int64_t bytes = SpoolBytesOfOne(folder);
  for (const auto& rank : RanksBelow(folder)) bytes += SpoolBytesOfOne(rank);
  return bytes;
}

bool IsOurs(const std::string& name) {
  const auto is = [&](const char* ours) { return name == ours; };
  return std::ranges::any_of(kSpoolFiles, is) ||
         std::ranges::any_of(kSmallFiles, is);
}

}  // namespace

std::vector<std::filesystem::path> ChooseForRemoval(
    std::vector<ToldAttempt> told, const SpoolPolicy& policy,
    system_clock::time_point now) {
  std::ranges::sort(told, {}, &ToldAttempt::told_at);
  int64_t bytes = 0;
  for (const ToldAttempt& attempt : told) bytes += attempt.bytes;
  std::vector<std::filesystem::path> chosen;
  for (const ToldAttempt& attempt : told) {
    if (now - attempt.told_at <= policy.keep && bytes <= policy.keep_bytes) {
      break;
    }
    bytes -= attempt.bytes;
    chosen.push_back(attempt.folder);
  }
  return chosen;
}

std::vector<ToldAttempt> ListTold(const std::filesystem::path& state) {
  std::vector<ToldAttempt> told;
  std::error_code error;
  std::filesystem::directory_iterator entry(state / "attempts", error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::filesystem::path folder = entry->path();
    struct stat info {};
    if (!IsOfAnAttempt(folder.filename().string()) || !IsReleased(folder) ||
        stat((folder / "told.json").c_str(), &info) != 0) {
      continue;
    }
    const int64_t bytes = SpoolBytes(folder);
    // The rename that released it left its own mark on the folder alone.
    if (bytes == 0 || stat(folder.c_str(), &info) != 0) continue;
    told.push_back(
        {folder, bytes, system_clock::from_time_t(info.st_mtim.tv_sec)});
  }
  return told;
}

void RemoveSpool(const std::filesystem::path& folder) {
  for (const auto& rank : RanksBelow(folder)) RemoveSpool(rank);
  std::error_code error;
  for (const char* name : kSpoolFiles) {
    std::filesystem::remove(folder / name, error);
  }
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool leads_nowhere =
        name == "checkpoints" && HasNoCheckpoints(folder);
    if (!IsOurs(name) && !leads_nowhere) return;
  }
  if (!error) std::filesystem::remove_all(folder, error);
}

std::optional<int64_t> FreeBytes(const std::filesystem::path& folder) {
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0) return std::nullopt;
  return static_cast<int64_t>(info.f_bavail) *
         static_cast<int64_t>(info.f_frsize);
}

absl::Status CheckFreeSpace(const std::filesystem::path& folder,
                            const RoomNeeded& needed) {
  const auto free = FreeBytes(folder);
  if (!free || *free >= needed.least + needed.checkpoints) {
    return absl::OkStatus();
  }
  const auto mega = [](int64_t bytes) {
    constexpr int64_t kMega = 1'000'000;
    return std::to_string((bytes + kMega - 1) / kMega) + " MB";
  };
  std::string message = "no space left: " + mega(*free) + " are free in " +
                        folder.string() + ", and an attempt needs " +
                        mega(needed.least) + " (--least-free-mb)";
  if (needed.checkpoints > 0) {
    message += " and " + mega(needed.checkpoints) +
               " for its checkpoints (checkpoint_every, checkpoint_keep)";
  }
  return absl::UnavailableError(message + "; remove files there");
}

}  // namespace leadline::agent
