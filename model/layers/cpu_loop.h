// Which tensors the CPU kernels take, and how their work is cut. A piece is one
// sequence, whatever the number of threads, so sums never depend on it.

#pragma once

#include <ATen/Parallel.h>
#include <torch/torch.h>

namespace leadline::model {

/// True if the plain loops over float and double apply to this tensor.
inline bool HasCpuLoops(const torch::Tensor& tensor) {
  return tensor.device().is_cpu() && (tensor.scalar_type() == torch::kFloat32 ||
                                      tensor.scalar_type() == torch::kFloat64);
}

/// Calls `loop`(first, last) over the R*B sequences of x_RBTD.
template <typename Loop>
void EachSequence(const torch::Tensor& x_RBTD, const Loop& loop) {
  constexpr int64_t kGrain = 1 << 15;  // elements worth a thread
  const int64_t sequences = x_RBTD.size(0) * x_RBTD.size(1);
  const int64_t elements = x_RBTD.numel() / std::max<int64_t>(sequences, 1);
  at::parallel_for(
      0, sequences,
      std::max<int64_t>(1, kGrain / std::max<int64_t>(elements, 1)), loop);
}

}  // namespace leadline::model
