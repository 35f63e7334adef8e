#include "worker/checkpoint/series.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "worker/checkpoint/bad_checkpoint.h"
#include "worker/checkpoint/draft.h"

namespace leadline::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr size_t kDigits = 9;

std::optional<int64_t> StepOf(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name.size() < kDigits) return std::nullopt;
  int64_t step = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || step < 0) {
    return std::nullopt;
  }
  return step;
}

/// Names of folders in `root`, links not followed; none where it is not there.
std::vector<std::string> FoldersIn(const fs::path& root) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(root, error);
  if (error == std::errc::no_such_file_or_directory) return names;
  if (error) throw fs::filesystem_error("cannot list", root, error);
  for (const fs::directory_entry& entry : entries) {
    if (entry.symlink_status().type() == fs::file_type::directory) {
      names.push_back(entry.path().filename().string());
    }
  }
  return names;
}

int64_t BytesOf(const fs::path& folder) {
  int64_t bytes = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, ignored)) {
    const auto size = entry.file_size(ignored);
    if (!ignored) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

/// The first free name of that beginning beside the folder.
void Rename(const fs::path& folder, std::string_view prefix) {
  for (int k = 1;; ++k) {
    fs::path aside = folder.parent_path() / std::string(prefix);
    aside += folder.filename().string();
    if (k > 1) aside += "." + std::to_string(k);
    if (fs::exists(fs::symlink_status(aside))) continue;
    fs::rename(folder, aside);
    return;
  }
}

/// Null if it cannot be read.
std::optional<Manifest> ManifestIn(const fs::path& folder) {
  try {
    return Checkpoint(folder).manifest();
  } catch (const BadCheckpoint&) {
    return std::nullopt;
  }
}

}  // namespace

fs::path Series::FolderOf(int64_t step) const {
  std::string digits = std::to_string(step);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return root_ / (std::string(kPrefix) + digits);
}

std::vector<int64_t> Series::Steps() const {
  std::vector<int64_t> steps;
  for (const std::string& name : FoldersIn(root_)) {
    if (const auto step = StepOf(name)) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

bool Series::IsOurs(const Manifest& manifest) const {
  return manifest.cell_hash == cell_hash_ && manifest.Seeds() == seeds_;
}

std::optional<Checkpoint> Series::NewestWhole(const PassedOver& tell) const {
  std::vector<int64_t> steps = Steps();
  std::ranges::reverse(steps);
  for (const int64_t step : steps) {
    const fs::path folder = FolderOf(step);
    try {
      Checkpoint checkpoint(folder);
      if (!IsOurs(checkpoint.manifest())) {
        tell(folder.string() + " is of another cell or of other seeds");
        continue;
      }
      checkpoint.Verify();
      return checkpoint;
    } catch (const BadCheckpoint& bad) {
      Rename(folder, "damaged-");
      tell(std::string(bad.what()) + "; set aside as damaged-" +
           folder.filename().string());
    }
  }
  return std::nullopt;
}

Series::Freed Series::Prune(const Kept& keep) const {
  std::vector<int64_t> steps;
  std::map<size_t, int64_t> best;  // step by replica: the newest wins
  for (const int64_t step : Steps()) {
    const auto manifest = ManifestIn(FolderOf(step));
    if (manifest && !IsOurs(*manifest)) continue;
    steps.push_back(step);
    for (size_t r = 0; manifest && r < seeds_.size(); ++r) {
      const bool is_best = step > 0 && manifest->replicas[r].best_step == step;
      if (is_best && keep.best) best[r] = step;
    }
  }
  std::set<int64_t> kept;
  for (const auto& [replica, step] : best) kept.insert(step);
  const auto count = static_cast<int64_t>(steps.size());
  for (int64_t i = std::max<int64_t>(0, count - keep.newest); i < count; ++i) {
    kept.insert(steps[static_cast<size_t>(i)]);
  }
  Freed freed;
  for (const int64_t step : steps) {
    if (kept.contains(step)) continue;
    const fs::path folder = FolderOf(step);
    const int64_t bytes = BytesOf(folder);
    Remove(step);
    freed.steps.push_back(step);
    freed.bytes += bytes;
  }
  return freed;
}

void Series::Remove(int64_t step) const {
  const fs::path folder = FolderOf(step);
  const fs::path gone = folder.string() + std::string(kUnfinished) + "removed";
  fs::remove_all(gone);
  std::error_code error;
  fs::rename(folder, gone, error);
  if (error == std::errc::no_such_file_or_directory) return;
  if (error) throw fs::filesystem_error("cannot remove", folder, error);
  fs::remove_all(gone);
}

void Series::RemoveUnfinished() const {
  for (const std::string& name : FoldersIn(root_)) {
    if (name.starts_with(kPrefix) &&
        name.find(kUnfinished) != std::string::npos) {
      fs::remove_all(root_ / name);
    }
  }
}

}  // namespace leadline::checkpoint
