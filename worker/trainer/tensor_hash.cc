#include "worker/trainer/tensor_hash.h"

#include <string>

#include "common/sha256.h"

namespace leadline::trainer {

int64_t HashOf(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().cpu().contiguous();
  const std::string digits = Sha256Of(
      {static_cast<const char*>(values.const_data_ptr()), values.nbytes()});
  return std::stoll(digits.substr(0, 15), nullptr, 16);
}

}  // namespace leadline::trainer
