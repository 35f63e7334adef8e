#include "model/layers/rotary.h"

#include "model/layers/cpu_loop.h"
#include "model/layers/rotary_kernel.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Tensor TurnOnCpu(const Tensor& x_NTHK, const RotaryTable& table, double sign) {
  Tensor y_NTHK = torch::empty_like(x_NTHK);
  const TurnShape shape{x_NTHK.size(1), x_NTHK.size(2), x_NTHK.size(3) / 2};
  const Tensor cosine_TK = table.cosine_TK.contiguous();
  const Tensor sine_TK = table.sine_TK.contiguous();
  AT_DISPATCH_FLOATING_TYPES(x_NTHK.scalar_type(), "Rotate", [&] {
    const auto* c = cosine_TK.const_data_ptr<scalar_t>();
    const auto* s = sine_TK.const_data_ptr<scalar_t>();
    const auto* x = x_NTHK.const_data_ptr<scalar_t>();
    auto* y = y_NTHK.data_ptr<scalar_t>();
    constexpr int64_t kGrain = 256;  // tokens worth a thread
    at::parallel_for(0, x_NTHK.size(0) * shape.tokens, kGrain,
                     [&](int64_t first, int64_t last) {
                       Turn(shape, first, last, sign, c, s, x, y);
                     });
  });
  return y_NTHK;
}

Tensor TurnAnywhere(const Tensor& x_NTHK, const RotaryTable& table,
                    double sign) {
  const Tensor cosine_T1K = table.cosine_TK.unsqueeze(1);
  const Tensor sine_T1K = table.sine_TK.unsqueeze(1) * sign;
  const std::vector<Tensor> x = x_NTHK.chunk(2, -1);
  return torch::cat({x[0] * cosine_T1K - x[1] * sine_T1K,
                     x[1] * cosine_T1K + x[0] * sine_T1K},
                    -1);
}

/// By the angles; `sign` -1 turns back.
Tensor TurnBy(const Tensor& x, const RotaryTable& table, double sign) {
  const Tensor x_NTHK = x.contiguous();
  return HasCpuLoops(x_NTHK) ? TurnOnCpu(x_NTHK, table, sign)
                             : TurnAnywhere(x_NTHK, table, sign);
}

class RotateFunction : public torch::autograd::Function<RotateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x_NTHK,
                        const RotaryTable& table) {
    context->save_for_backward({table.cosine_TK, table.sine_TK});
    return TurnBy(x_NTHK, table, 1);
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    return {TurnBy(gradients[0], {saved[0], saved[1]}, -1), Tensor()};
  }
};

}  // namespace

RotaryTable MakeRotaryTable(int64_t tokens, int64_t head_width, double theta,
                            const torch::TensorOptions& options) {
  const torch::TensorOptions wide = torch::kFloat64;
  const double exponent = -2.0 / static_cast<double>(head_width);
  const Tensor rate_K =
      torch::pow(theta, torch::arange(head_width / 2, wide) * exponent);
  const Tensor angle_TK = torch::outer(torch::arange(tokens, wide), rate_K);
  return {angle_TK.cos().to(options), angle_TK.sin().to(options)};
}

Tensor Rotate(const Tensor& x_NTHK, const RotaryTable& table) {
  TORCH_CHECK(x_NTHK.dim() == 4 && x_NTHK.size(1) == table.cosine_TK.size(0) &&
                  x_NTHK.size(3) == 2 * table.cosine_TK.size(1),
              "Rotate takes [N, T, H, K], not ", x_NTHK.sizes());
  return RotateFunction::apply(x_NTHK, table);
}

}  // namespace leadline::model
