// The checkpoints of one cohort, side by side in one folder: which to go on
// from, and which to keep.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/checkpoint/checkpoint.h"

namespace leadline::checkpoint {

/// In an attempt's folder.
inline constexpr std::string_view kSeriesFolder = "checkpoints";

/// Folders `step-000000100` in a folder of any name. Whatever else lies there
/// is left alone, checkpoints of other cells and seeds included. Calls throw
/// std::system_error where the disk says no. Owned by one thread; another
/// process may write to the same folder.
class Series {
 public:
  /// Of the cohort with that cell's hash and those seeds. The folder need not
  /// be there.
  Series(std::filesystem::path root, std::string cell_hash,
         std::vector<int64_t> seeds)
      : root_(std::move(root)),
        cell_hash_(std::move(cell_hash)),
        seeds_(std::move(seeds)) {}

  const std::filesystem::path& root() const { return root_; }

  std::filesystem::path FolderOf(int64_t step) const;

  /// Steps that have a checkpoint of any cohort, whole or damaged, ascending.
  std::vector<int64_t> Steps() const;

  /// Told of a checkpoint that is passed over, and why.
  using PassedOver = std::function<void(const std::string& message)>;

  /// The newest that is whole; null if there is none. Everything in it has been
  /// read once. Damaged ones are renamed, so that nobody meets them again, and
  /// kept for inspection.
  std::optional<Checkpoint> NewestWhole(const PassedOver& tell) const;

  struct Freed {
    std::vector<int64_t> steps;
    int64_t bytes = 0;
  };

  struct Kept {
    int64_t newest = 0;
    bool best = false;  // of each replica: its lowest loss of the evaluations
  };

  /// Removes all others. One that cannot be read is nobody's best.
  Freed Prune(const Kept& keep) const;

  /// The checkpoint of that step, if there is one; it never looks like a
  /// checkpoint while it goes.
  void Remove(int64_t step) const;

  /// Removes what writers that were killed have left unfinished.
  void RemoveUnfinished() const;

 private:
  bool IsOurs(const Manifest& manifest) const;

  std::filesystem::path root_;
  std::string cell_hash_;
  std::vector<int64_t> seeds_;
};

}  // namespace leadline::checkpoint
