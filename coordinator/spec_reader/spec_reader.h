// YAML text to sweep: strict, typed by the settings table, and every error at
// its line and column.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "coordinator/sweep/sweep.h"
#include "model/spec/start_point.h"

namespace leadline::spec_reader {

/// A larger file is refused before it is read.
inline constexpr size_t kMostBytes = size_t{1} << 20;

/// What the data in a user's file are.
struct DataFacts {
  std::string content_hash;           // SHA-256, hexadecimal
  std::optional<int64_t> vocabulary;  // null: not counted
};

/// Looks into a data file: absolute path, tokenizer. The error's message is
/// shown to the user.
using DataInspector = std::function<absl::StatusOr<DataFacts>(
    const std::string& path, const std::string& tokenizer)>;

/// What a checkpoint is that cells start from.
struct CheckpointFacts {
  std::string hash;  // of its manifest
  spec::StartPoint start;
};

/// Looks into a checkpoint: the absolute path of its folder. The error's
/// message is shown to the user.
using CheckpointInspector =
    std::function<absl::StatusOr<CheckpointFacts>(const std::string& path)>;

struct Reading {
  sweep::Sweep sweep;                    // meaningful only without problems
  std::vector<sweep::Problem> problems;  // by position

  bool ok() const { return problems.empty(); }
};

/// Reads and checks a sweep file. Relative paths start at `base_folder`,
/// which is absolute. A file that parses gives all its problems, also those
/// that sweep::MakePlan would find without expanding; a syntax error comes
/// alone.
Reading ReadSweep(std::string_view text, const std::string& base_folder,
                  const DataInspector& inspect,
                  const CheckpointInspector& inspect_checkpoint = {});

/// "file:line:column: message", as compilers write it.
std::string ToText(const sweep::Problem& problem, std::string_view file);

}  // namespace leadline::spec_reader
