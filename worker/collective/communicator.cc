#include "worker/collective/communicator.h"

namespace leadline::collective {

void Communicator::AllReduce(torch::Tensor& tensor) {
  if (size() == 1) return;
  torch::Tensor whole = tensor.contiguous();
  Wait(StartAllReduce(whole));
  if (!whole.is_same(tensor)) tensor.copy_(whole);
}

}  // namespace leadline::collective
