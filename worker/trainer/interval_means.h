// Means of what each step yields, over the steps since they were last read.
//
// Shape suffixes: R replicas.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <torch/torch.h>

namespace leadline::trainer {

/// Owned by one thread.
class IntervalMeans {
 public:
  /// Does not wait for the device.
  void Add(const torch::Tensor& loss_R, const torch::Tensor& norm_R,
           const torch::Tensor& factor_R);

  struct Means {
    int64_t steps = 0;
    std::vector<double> loss, norm, factor;  // [R]
  };

  /// What was added so far.
  struct Sums {
    int64_t steps = 0;
    std::vector<std::array<double, 3>> of_replica;  // loss, norm, factor
  };

  /// Waits for the device. Zeros where no step was added.
  Sums Save(int64_t replicas) const;
  void Restore(const Sums& sums, const torch::Device& device);

  /// Waits for the device and starts anew. At least one step was added.
  Means Take();

 private:
  torch::Tensor sums_3R_;
  int64_t steps_ = 0;
};

/// The elements of a tensor of any type, row-major.
std::vector<double> ToVector(const torch::Tensor& tensor);

}  // namespace leadline::trainer
