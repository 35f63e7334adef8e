#include "model/layers/rotary.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The turn itself; `sine` with the other sign turns back.
Tensor Turn(const Tensor& x_RBTHK, const Tensor& cosine_T1K,
            const Tensor& sine_T1K, bool back) {
  const int64_t half = x_RBTHK.size(-1) / 2;
  Tensor y_RBTHK = torch::empty_like(x_RBTHK);
  const Tensor x1 = x_RBTHK.narrow(-1, 0, half);
  const Tensor x2 = x_RBTHK.narrow(-1, half, half);
  Tensor y1 = y_RBTHK.narrow(-1, 0, half);
  Tensor y2 = y_RBTHK.narrow(-1, half, half);
  const double sign = back ? -1 : 1;
  at::mul_out(y1, x1, cosine_T1K).addcmul_(x2, sine_T1K, -sign);
  at::mul_out(y2, x2, cosine_T1K).addcmul_(x1, sine_T1K, sign);
  return y_RBTHK;
}

class RotateFunction : public torch::autograd::Function<RotateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_RBTHK,
                        const Tensor& cosine_T1K, const Tensor& sine_T1K) {
    context->save_for_backward({cosine_T1K, sine_T1K});
    return Turn(x_RBTHK, cosine_T1K, sine_T1K, false);
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    return {Turn(gradients[0], saved[0], saved[1], true), Tensor(), Tensor()};
  }
};

}  // namespace

RotaryTable MakeRotaryTable(int64_t tokens, int64_t head_width, double theta,
                            const torch::TensorOptions& options) {
  const torch::TensorOptions wide = torch::kFloat64;
  const Tensor rate_K =
      torch::pow(theta, torch::arange(head_width / 2, wide) *
                            (-2.0 / static_cast<double>(head_width)));
  const Tensor angle_TK = torch::outer(torch::arange(tokens, wide), rate_K);
  return {angle_TK.cos().to(options), angle_TK.sin().to(options)};
}

Tensor Rotate(const Tensor& x_RBTHK, const RotaryTable& table) {
  return RotateFunction::apply(x_RBTHK, table.cosine_TK.unsqueeze(1),
                               table.sine_TK.unsqueeze(1));
}

}  // namespace leadline::model
