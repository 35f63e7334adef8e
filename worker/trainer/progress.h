// One line on a terminal that says how far the training is.

#pragma once

#include <cstdint>

namespace leadline::trainer {

/// Writes to standard error, and only where that is a terminal.
class Progress {
 public:
  /// Unless `silent`.
  explicit Progress(int64_t steps, bool silent = false);
  ~Progress();

  /// `loss` is a mean over the replicas that train.
  void Show(int64_t step, double loss, double tokens_per_second,
            double seconds_left);
  /// A word on what goes on between steps.
  void Show(const char* what);

 private:
  int64_t steps_;
  bool terminal_;
  bool shown_ = false;
};

}  // namespace leadline::trainer
