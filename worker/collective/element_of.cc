#include "worker/collective/element_of.h"

namespace leadline::collective {

Element ElementOf(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kUInt8:
      return Element::kByte;
    case torch::kFloat32:
      return Element::kFloat32;
    case torch::kFloat64:
      return Element::kFloat64;
    case torch::kInt64:
      return Element::kInt64;
    default:
      TORCH_CHECK(false, "ranks do not exchange tensors of ",
                  tensor.scalar_type());
  }
}

}  // namespace leadline::collective
