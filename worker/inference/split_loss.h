// The loss of a checkpoint on a split of its data set.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "worker/inference/loaded_model.h"

namespace leadline::inference {

struct SplitLoss {
  std::vector<double> loss;  // of each replica, as the unit says
  std::string unit;
  int64_t scored = 0;  // symbols
  int64_t windows = 0;
};

/// Computed as at the end of training: with all replicas of the checkpoint it
/// is the trial's result bit for bit. `split` is "train", "validation" or
/// "test", `data` the data set's file, which must be what the model was trained
/// on. `breathe` is called after each batch. Throws DataError and
/// BadCheckpoint.
SplitLoss EvaluateOn(const LoadedModel& model, const std::string& split,
                     const std::string& data,
                     const std::function<void()>& breathe);

}  // namespace leadline::inference
