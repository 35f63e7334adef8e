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
  json text = {{"devices", record.devices},
               {"dataset_path", record.dataset_path},
               {"device", record.trainer_device}};
  if (record.world_size > 1) {
    text["first_rank"] = record.first_rank;
    text["ranks"] = record.ranks;
    text["world_size"] = record.world_size;
  }
  return WriteFile(folder / kHeld, text.dump() + "\n");
}

namespace {

std::optional<HoldRecord> Read(const std::filesystem::path& file) {
  const auto text = ParseStrictJson(ReadEnd(file, kMostRecordBytes));
  if (!text.ok()) return std::nullopt;
  HoldRecord record;
  try {
    record.devices = text->at("devices").get<std::vector<std::string>>();
    record.dataset_path = text->at("dataset_path").get<std::string>();
    record.trainer_device = text->at("device").get<std::string>();
    record.first_rank = text->value("first_rank", int64_t{0});
    record.ranks = text->value("ranks", int64_t{1});
    record.world_size = text->value("world_size", int64_t{1});
  } catch (const json::exception&) {
    return std::nullopt;
  }
  const bool fits = record.ranks >= 1 && record.first_rank >= 0 &&
                    record.world_size <= kMostRanks &&
                    record.first_rank + record.ranks <= record.world_size;
  return fits ? std::optional(record) : std::nullopt;
}

}  // namespace

std::optional<HoldRecord> ReadHold(const std::filesystem::path& folder) {
  return Read(folder / kHeld);
}

std::optional<HoldRecord> ReadHoldOrTold(const std::filesystem::path& folder) {
  auto record = Read(folder / kHeld);
  return record ? record : Read(folder / kTold);
}

void ReleaseHold(const std::filesystem::path& folder) {
  (void)rename((folder / kHeld).c_str(), (folder / kTold).c_str());
}

bool IsHeld(const std::filesystem::path& folder) {
  return IsThere(folder / kHeld);
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
