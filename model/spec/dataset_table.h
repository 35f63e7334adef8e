// The table of registered data sets: names, hashes, sizes, splits, and exact
// floors where a corpus was made by us.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leadline::spec {

enum class DatasetKind {
  kBuiltIn,   // made by worker/dataset in the agent's state folder
  kSample,    // a file in the folder named by LEADLINE_SAMPLES
  kDownload,  // downloaded, or put by hand, into the agent's data folder
};

/// Where the file of a download comes from: itself, or a zip archive that holds
/// it under its name.
struct DownloadSource {
  std::string_view url{};  // what follows the last '/' is a file's name
  /// Of the archive, in the form of DatasetInfo::content_hash; empty where the
  /// address gives the file itself.
  std::string_view archive_hash{};
  int64_t archive_bytes = 0;
};

struct DatasetInfo {
  std::string_view name{};
  DatasetKind kind = DatasetKind::kBuiltIn;
  std::string_view file{};  // name of the file, without a folder
  /// SHA-256 of the file in lower-case hexadecimal, or "md5:" and its MD5.
  std::string_view content_hash{};
  int64_t bytes = 0;
  DownloadSource source{};
  /// A second file beside the first, whose first half of stories is validation
  /// and whose second half is test; the first file is then all training.
  std::string_view held_out_file{};
  std::string_view held_out_hash{};
  int64_t held_out_bytes = 0;
  DownloadSource held_out_source{};
  std::string_view tokenizer{};  // "char" or "byte"
  /// Fractions of characters for training, validation and test; all training
  /// where, and only where, a file is held out.
  std::array<double, 3> split{0.9, 0.05, 0.05};
  std::optional<int64_t> vocabulary{};  // null where only the file tells
  /// Exact floors in nats/char of validation and test; null where not known.
  std::optional<double> validation_floor{};
  std::optional<double> test_floor{};
  std::string_view licence{};  // empty where the text is ours
  std::string_view meaning{};
};

/// In the order of listings.
std::span<const DatasetInfo> DatasetTable();

/// Null unless there is such a data set.
const DatasetInfo* FindDataset(std::string_view name);

/// One data set of a sweep, resolved: a registered name, or a user's file.
struct Dataset {
  std::string name;          // the registered name; else the file's stem
  std::string path;          // absolute; empty for registered ones
  std::string content_hash;  // as above; identity, never the path
  std::string tokenizer = "char";
  std::array<double, 3> split{0.9, 0.05, 0.05};
  std::optional<int64_t> vocabulary = {};

  bool operator==(const Dataset&) const = default;
};

}  // namespace leadline::spec
