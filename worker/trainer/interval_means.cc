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

std::vector<double> ToVector(const Tensor& tensor) {
  const Tensor values = tensor.detach().cpu().to(torch::kFloat64).contiguous();
  const auto* first = values.const_data_ptr<double>();
  return {first, first + values.numel()};
}

}  // namespace leadline::trainer
