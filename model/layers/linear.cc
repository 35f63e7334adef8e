#include "model/layers/linear.h"

namespace leadline::model {

torch::Tensor Linear(const torch::Tensor& x_RNI, const torch::Tensor& w_RIO,
                     torch::ScalarType type) {
  return torch::bmm(x_RNI.to(type), w_RIO.to(type));
}

}  // namespace leadline::model
