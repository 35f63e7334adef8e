#include "worker/agent/hold_record.h"

#include <algorithm>
#include <system_error>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/agent/attempt_folder.h"
#include "worker/agent/file_descriptor.h"
#include "worker/agent/strict_json.h"

namespace leadline::agent {
namespace {

using nlohmann::json;

constexpr size_t kMostRecordBytes = 64 << 10;
constexpr char kHeld[] = "held.json";
constexpr char kTold[] = "told.json";
constexpr char kInterrupted[] = "interrupted";

bool IsThere(const std::filesystem::path& path) {
  return access(path.c_str(), F_OK) == 0;
}

}  // namespace

absl::Status WriteHold(const std::filesystem::path& folder,
                       const HoldRecord& record) {
  const json text = {{"devices", record.devices},
                     {"dataset_path", record.dataset_path},
                     {"device", record.trainer_device}};
  return WriteFile(folder / kHeld, text.dump() + "\n");
}

std::optional<HoldRecord> ReadHold(const std::filesystem::path& folder) {
  const auto text = ParseStrictJson(ReadEnd(folder / kHeld, kMostRecordBytes));
  if (!text.ok()) return std::nullopt;
  HoldRecord record;
  try {
    record.devices = text->at("devices").get<std::vector<std::string>>();
    record.dataset_path = text->at("dataset_path").get<std::string>();
    record.trainer_device = text->at("device").get<std::string>();
  } catch (const json::exception&) {
    return std::nullopt;
  }
  return record;
}

void ReleaseHold(const std::filesystem::path& folder) {
  (void)rename((folder / kHeld).c_str(), (folder / kTold).c_str());
}

bool IsReleased(const std::filesystem::path& folder) {
  return IsThere(folder / kTold) && !IsThere(folder / kHeld);
}

void MarkInterrupted(const std::filesystem::path& folder) {
  const FileDescriptor file(open((folder / kInterrupted).c_str(),
                                 O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

bool IsInterrupted(const std::filesystem::path& folder) {
  return IsThere(folder / kInterrupted);
}

std::vector<AttemptKey> ListHeld(const std::filesystem::path& state) {
  std::vector<AttemptKey> held;
  std::error_code error;
  std::filesystem::directory_iterator entry(state / "attempts", error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    const auto key = ParseAttemptKey(entry->path().filename().string());
    if (key && IsThere(entry->path() / kHeld)) held.push_back(*key);
  }
  std::ranges::sort(held);
  return held;
}

}  // namespace leadline::agent
