#include "worker/trainer/interval_means.h"

namespace leadline::trainer {

using torch::Tensor;

void IntervalMeans::Add(const Tensor& loss_R, const Tensor& norm_R,
                        const Tensor& factor_R) {
  const Tensor values_3R = torch::stack({loss_R, norm_R, factor_R});
  if (steps_ == 0) {
    sums_3R_ = values_3R;
  } else {
    sums_3R_ += values_3R;
  }
  ++steps_;
}

IntervalMeans::Means IntervalMeans::Take() {
  const Tensor means_3R = (sums_3R_ / static_cast<double>(steps_)).cpu();
  Means means{steps_, ToVector(means_3R[0]), ToVector(means_3R[1]),
              ToVector(means_3R[2])};
  steps_ = 0;
  return means;
}

IntervalMeans::Sums IntervalMeans::Save(int64_t replicas) const {
  Sums sums{steps_, {}};
  sums.of_replica.resize(static_cast<size_t>(replicas));
  if (steps_ == 0) return sums;
  for (size_t k = 0; k < 3; ++k) {
    const std::vector<double> values =
        ToVector(sums_3R_[static_cast<int64_t>(k)]);
    for (size_t r = 0; r < values.size(); ++r) {
      sums.of_replica[r][k] = values[r];
    }
  }
  return sums;
}

void IntervalMeans::Restore(const Sums& sums, const torch::Device& device) {
  const auto replicas = static_cast<int64_t>(sums.of_replica.size());
  steps_ = sums.steps;
  sums_3R_ = torch::empty({3, replicas}, torch::kFloat64);
  auto values = sums_3R_.accessor<double, 2>();
  for (int64_t r = 0; r < replicas; ++r) {
    for (int64_t k = 0; k < 3; ++k) {
      values[k][r] =
          sums.of_replica[static_cast<size_t>(r)][static_cast<size_t>(k)];
    }
  }
  sums_3R_ = sums_3R_.to(device);
}

std::vector<double> ToVector(const Tensor& tensor) {
  const Tensor values = tensor.detach().cpu().to(torch::kFloat64).contiguous();
  const auto* first = values.const_data_ptr<double>();
  return {first, first + values.numel()};
}

}  // namespace leadline::trainer
