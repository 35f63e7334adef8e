#include "model/streams/permutations.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace leadline::model {

torch::Tensor PermutationMatrices(int64_t streams) {
  std::vector<int64_t> order(static_cast<size_t>(streams));
  std::iota(order.begin(), order.end(), 0);
  std::vector<torch::Tensor> matrices;
  do {
    matrices.push_back(
        torch::eye(streams).index_select(1, torch::tensor(order)).t());
  } while (std::next_permutation(order.begin(), order.end()));
  return torch::stack(matrices).contiguous();
}

}  // namespace leadline::model
