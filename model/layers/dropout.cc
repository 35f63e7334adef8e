#include "model/layers/dropout.h"

#include "model/random_streams.h"

namespace leadline::model {

using torch::Tensor;

Tensor Dropout::Mask(const std::string& site, const Tensor& like) const {
  if (!active()) return {};
  const torch::IntArrayRef sizes = like.sizes().slice(1);
  const int64_t elements = c10::multiply_integers(sizes.slice(1));
  const Tensor uniforms =
      DrawDropout(*seeds, site, step, first_sequence * elements, sizes);
  return uniforms.ge(probability).to(like.options()).div_(1 - probability);
}

Tensor Dropout::Apply(const std::string& site, const Tensor& x) const {
  return active() ? x * Mask(site, x) : x;
}

}  // namespace leadline::model
