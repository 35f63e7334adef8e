// Which checkpoints a cell may start from.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/spec/dataset_table.h"
#include "model/spec/settings.h"

namespace leadline::spec {

/// What a checkpoint holds, as far as it decides what can start from it.
struct StartPoint {
  Settings settings;
  std::string tokenizer;
  int64_t vocabulary = 0;
  std::vector<int64_t> seeds;
};

/// What keeps a cell from starting there, under the key `init_from`: another
/// method, other sizes, anything that would make the same weights compute
/// something else; other symbols; a seed that the checkpoint lacks, where it
/// holds several. Whatever only steers the training may differ.
std::vector<SettingError> WhyNotFrom(const StartPoint& start,
                                     const Settings& settings,
                                     const Dataset& dataset,
                                     std::span<const int64_t> seeds);

}  // namespace leadline::spec
