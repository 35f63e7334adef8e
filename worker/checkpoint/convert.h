// A checkpoint of prenorm as one of a routed method that computes the same.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/settings.h"
#include "worker/checkpoint/checkpoint.h"

namespace leadline::checkpoint {

struct Conversion {
  std::string hash;     // of the new checkpoint
  Manifest manifest{};  // likewise
  int64_t bytes = 0;    // of all its files
};

/// Base weights are kept bit for bit, what the method adds starts at its
/// constants, moments are left behind: training starts anew. `settings` are
/// those of spec::ConvertSettings. Throws BadCheckpoint and std::system_error.
Conversion Convert(const Checkpoint& from, const spec::Settings& settings,
                   const std::filesystem::path& to);

}  // namespace leadline::checkpoint
