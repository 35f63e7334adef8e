#include "model/layers/attention.h"

#include <cmath>
#include <limits>

#include "model/layers/linear.h"
#include "model/layers/norm.h"

namespace leadline::model {
namespace {

using torch::Tensor;

/// Each key or value head as often as query heads read it.
Tensor Repeat(const Tensor& x_NHTK, int64_t times) {
  if (times == 1) return x_NHTK;
  const int64_t heads = x_NHTK.size(1);
  return x_NHTK.unsqueeze(2)
      .expand({-1, -1, times, -1, -1})
      .reshape({x_NHTK.size(0), heads * times, x_NHTK.size(2), x_NHTK.size(3)});
}

/// The definition, written out: what dropout on the weights needs.
Tensor WeighOpenly(const Tensor& q_NHTK, const Tensor& k_NHTK,
                   const Tensor& v_NHTK, double scale, const Tensor& mask) {
  const int64_t tokens = q_NHTK.size(2);
  const Tensor future_TT =
      torch::ones({tokens, tokens}, q_NHTK.options().dtype(torch::kBool))
          .triu_(1);
  const Tensor weights_NHTT =
      (torch::matmul(q_NHTK, k_NHTK.transpose(2, 3)) * scale)
          .masked_fill(future_TT, -std::numeric_limits<double>::infinity())
          .softmax(-1);
  return torch::matmul(weights_NHTT * mask, v_NHTK);
}

}  // namespace

Attention::Attention(const std::string& prefix, const LayerShape& shape,
                     const MatrixStd& std, ParameterList& parameters)
    : prefix_(prefix), shape_(shape) {
  const int64_t narrow = shape.head_width() * shape.kv_heads;
  const ParameterGroup matrix{.decay = true};
  wq_RDD_ = parameters.Normal(prefix + ".wq", {shape.width, shape.width},
                              std.plain, matrix);
  wk_RDC_ = parameters.Normal(prefix + ".wk", {shape.width, narrow}, std.plain,
                              matrix);
  wv_RDC_ = parameters.Normal(prefix + ".wv", {shape.width, narrow}, std.value,
                              matrix);
  wo_RDD_ = parameters.Normal(prefix + ".wo", {shape.width, shape.width},
                              std.out, matrix);
}

Tensor Attention::Heads(const Tensor& x_RNC, torch::IntArrayRef sizes,
                        bool normed, const RotaryTable* table) const {
  const int64_t replicas = sizes[0];
  const int64_t sequences = sizes[1];
  const int64_t tokens = sizes[2];
  const int64_t heads = x_RNC.size(2) / shape_.head_width();
  Tensor wide_RNC = x_RNC;
  if (normed || table != nullptr) {
    wide_RNC = x_RNC.to(WideType(shape_.compute));
  }
  if (normed) {
    wide_RNC = RmsNorm(wide_RNC.view({replicas, sequences, tokens * heads,
                                      shape_.head_width()}),
                       {}, shape_.norm_eps);
  }
  Tensor x_NTHK =
      wide_RNC.view({replicas * sequences, tokens, heads, shape_.head_width()});
  if (table != nullptr) x_NTHK = Rotate(x_NTHK, *table);
  return x_NTHK.transpose(1, 2).to(shape_.compute);
}

Tensor Attention::Forward(const Tensor& y_RBTD, const RotaryTable& table,
                          const Dropout& dropout, ValuePass* values) const {
  const torch::IntArrayRef sizes = y_RBTD.sizes();
  const Tensor y_RND =
      y_RBTD.view({sizes[0], sizes[1] * sizes[2], sizes[3]}).to(shape_.compute);
  const auto project = [&](const Tensor& w) {
    return Linear(y_RND, w, shape_.compute);
  };
  const int64_t times = shape_.heads / shape_.kv_heads;
  const Tensor q_NHTK = Heads(project(wq_RDD_), sizes, shape_.qk_norm, &table);
  const Tensor k_NHTK =
      Repeat(Heads(project(wk_RDC_), sizes, shape_.qk_norm, &table), times);
  Tensor v_RNC = project(wv_RDC_);
  if (values != nullptr) v_RNC = values->Mix(v_RNC);
  const Tensor v_NHTK = Repeat(Heads(v_RNC, sizes, false, nullptr), times);
  const double scale = 1 / std::sqrt(static_cast<double>(shape_.head_width()));
  Tensor mixed_NHTK;
  if (dropout.active()) {
    const Tensor like = q_NHTK.new_empty(
        {sizes[0], sizes[1], shape_.heads, sizes[2], sizes[2]});
    mixed_NHTK =
        WeighOpenly(q_NHTK, k_NHTK, v_NHTK, scale,
                    dropout.Mask(prefix_ + ".weights", like).flatten(0, 1));
  } else {
    mixed_NHTK = at::scaled_dot_product_attention(
        q_NHTK, k_NHTK, v_NHTK, {}, 0.0, /*is_causal=*/true, scale);
  }
  return Linear(
             mixed_NHTK.transpose(1, 2).reshape({sizes[0], -1, shape_.width}),
             wo_RDD_, shape_.compute)
      .view(sizes);
}

}  // namespace leadline::model
