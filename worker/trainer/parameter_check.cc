#include "worker/trainer/parameter_check.h"

#include <string>

#include "worker/collective/ring/collective_error.h"
#include "worker/trainer/tensor_hash.h"

namespace leadline::trainer {

using torch::Tensor;

void CheckSameParameters(const model::Decoder& decoder,
                         collective::Communicator& communicator, int64_t step) {
  if (communicator.size() == 1) return;
  const torch::NoGradGuard no_grad;
  const auto& parameters = decoder.parameters_in_order();
  const auto count = static_cast<int64_t>(parameters.size());
  // Each rank fills its own row.
  Tensor hashes = torch::zeros({communicator.size(), count}, torch::kInt64);
  auto rows = hashes.accessor<int64_t, 2>();
  for (int64_t i = 0; i < count; ++i) {
    rows[communicator.rank()][i] =
        HashOf(parameters[static_cast<size_t>(i)].tensor);
  }
  communicator.AllReduce(hashes);
  for (int64_t rank = 1; rank < communicator.size(); ++rank) {
    for (int64_t i = 0; i < count; ++i) {
      if (rows[rank][i] == rows[0][i]) continue;
      throw collective::OperationError(
          "after step " + std::to_string(step) + " the parameters of rank " +
          std::to_string(rank) + " are not those of rank 0: " +
          parameters[static_cast<size_t>(i)].name + " is the first to differ");
    }
  }
}

}  // namespace leadline::trainer
