// What a checkpoint says of itself: manifest.json.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/dataset_table.h"
#include "model/spec/settings.h"

namespace leadline::checkpoint {

/// A file beside the manifest.
struct FileEntry {
  std::string name;
  int64_t bytes = 0;
  std::string sha256;  // hexadecimal
  bool operator==(const FileEntry&) const = default;
};

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kParametersFile = "parameters.safetensors";
inline constexpr std::string_view kMomentsFile = "moments.safetensors";

/// How far one replica has come. Numbers may be non-finite.
struct ReplicaProgress {
  int64_t seed = 0;
  std::string ended;  // "loss", "norm", "limit", "dropped"; empty: trains
  int64_t end_step = 0;
  double best_loss = 0;  // of the fixed evaluations; NaN before the first
  int64_t best_step = 0;
  /// Sums since the last logged means: loss, gradient norm, clip factor.
  std::array<double, 3> sums{};
};

/// The checkpoint that another one was made of without training.
struct Origin {
  std::string how;   // "convert"
  std::string hash;  // of its manifest
  std::string method;
  int64_t step = 0;
  bool operator==(const Origin&) const = default;
};

struct Manifest {
  spec::Settings settings;  // resolved
  std::string cell_hash;
  spec::Dataset dataset;  // without the path
  int64_t vocabulary = 0;
  std::vector<char32_t> alphabet;  // symbol i; `unknown` may follow the last
  int64_t step = 0;                // steps done
  int64_t interval_steps = 0;      // those that the sums are over
  bool evaluation_due = false;     // the one after that step was cut short
  std::vector<ReplicaProgress> replicas;
  std::optional<Origin> origin;
  std::vector<FileEntry> files;  // parameters; moments unless converted

  std::vector<int64_t> Seeds() const;
  /// Null if there is no such file.
  const FileEntry* Find(std::string_view file) const;
};

/// The text of manifest.json; its SHA-256 is the checkpoint's identity.
std::string ManifestJson(const Manifest& manifest);

/// Longer manifests are refused.
inline constexpr int64_t kMostManifestBytes = int64_t{2} << 20U;

/// Throws BadCheckpoint with what is wrong, the file left out.
Manifest ParseManifest(std::string_view json);

}  // namespace leadline::checkpoint
