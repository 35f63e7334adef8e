#include "model/layers/norm.h"

#include <optional>

#include "model/layers/cpu_loop.h"
#include "model/layers/norm_kernel.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

NormShape ShapeOf(const Tensor& x_RBTD) {
  return {.rows = x_RBTD.size(2),
          .width = x_RBTD.size(3),
          .sequences_per_gain = x_RBTD.size(1)};
}

template <typename Scalar>
const Scalar* PointerOrNull(const Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr<Scalar>() : nullptr;
}

Tensor Broadcast(const Tensor& gain_RD) {
  return gain_RD.unsqueeze(1).unsqueeze(1);
}

std::pair<Tensor, Tensor> ForwardOnCpu(const Tensor& x_RBTD,
                                       const Tensor& gain_RD, double eps) {
  Tensor y_RBTD = torch::empty_like(x_RBTD);
  Tensor r_RBT = torch::empty(x_RBTD.sizes().slice(0, 3), x_RBTD.options());
  AT_DISPATCH_FLOATING_TYPES(x_RBTD.scalar_type(), "RmsNorm", [&] {
    const auto* x = x_RBTD.const_data_ptr<scalar_t>();
    const auto* gain = PointerOrNull<scalar_t>(gain_RD);
    auto* y = y_RBTD.data_ptr<scalar_t>();
    auto* r = r_RBT.data_ptr<scalar_t>();
    EachSequence(x_RBTD, [&](int64_t first, int64_t last) {
      NormForward(ShapeOf(x_RBTD), first, last, x, gain, eps, y, r);
    });
  });
  return {y_RBTD, r_RBT};
}

std::pair<Tensor, Tensor> BackwardOnCpu(const Tensor& x_RBTD,
                                        const Tensor& gain_RD,
                                        const Tensor& r_RBT,
                                        const Tensor& dy_RBTD) {
  Tensor dx_RBTD = torch::empty_like(x_RBTD);
  Tensor dgain_RBD;
  if (gain_RD.defined()) {
    dgain_RBD = torch::empty({x_RBTD.size(0), x_RBTD.size(1), x_RBTD.size(3)},
                             x_RBTD.options());
  }
  AT_DISPATCH_FLOATING_TYPES(x_RBTD.scalar_type(), "RmsNorm", [&] {
    const auto* x = x_RBTD.const_data_ptr<scalar_t>();
    const auto* gain = PointerOrNull<scalar_t>(gain_RD);
    const auto* r = r_RBT.const_data_ptr<scalar_t>();
    const auto* dy = dy_RBTD.const_data_ptr<scalar_t>();
    auto* dx = dx_RBTD.data_ptr<scalar_t>();
    auto* dgain =
        dgain_RBD.defined() ? dgain_RBD.data_ptr<scalar_t>() : nullptr;
    EachSequence(x_RBTD, [&](int64_t first, int64_t last) {
      NormBackward(ShapeOf(x_RBTD), first, last, x, gain, r, dy, dx, dgain);
    });
  });
  return {dx_RBTD, dgain_RBD.defined() ? dgain_RBD.sum(1) : Tensor()};
}

std::pair<Tensor, Tensor> BackwardAnywhere(const Tensor& x_RBTD,
                                           const Tensor& gain_RD,
                                           const Tensor& r_RBT,
                                           const Tensor& dy_RBTD) {
  const Tensor r_RBT1 = r_RBT.unsqueeze(-1);
  const Tensor dn_RBTD =
      gain_RD.defined() ? dy_RBTD * Broadcast(gain_RD) : dy_RBTD;
  const Tensor pull_RBT1 =
      (dn_RBTD * x_RBTD).mean(-1, true) * r_RBT1 * r_RBT1 * r_RBT1;
  Tensor dgain_RD;
  if (gain_RD.defined()) dgain_RD = (dy_RBTD * x_RBTD * r_RBT1).sum({1, 2});
  return {dn_RBTD * r_RBT1 - pull_RBT1 * x_RBTD, dgain_RD};
}

class RmsNormFunction : public torch::autograd::Function<RmsNormFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x,
                        const std::optional<Tensor>& gain, double eps) {
    const Tensor x_RBTD = x.contiguous();
    const Tensor gain_RD = gain ? gain->contiguous() : Tensor();
    Tensor y_RBTD;
    Tensor r_RBT;
    if (HasCpuLoops(x_RBTD)) {
      std::tie(y_RBTD, r_RBT) = ForwardOnCpu(x_RBTD, gain_RD, eps);
    } else {
      r_RBT = (x_RBTD.square().mean(-1) + eps).rsqrt();
      y_RBTD = x_RBTD * r_RBT.unsqueeze(-1);
      if (gain_RD.defined()) y_RBTD = Broadcast(gain_RD) * y_RBTD;
    }
    context->save_for_backward({x_RBTD, gain_RD, r_RBT});
    return y_RBTD;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dy_RBTD = gradients[0].contiguous();
    auto [dx_RBTD, dgain_RD] =
        HasCpuLoops(saved[0])
            ? BackwardOnCpu(saved[0], saved[1], saved[2], dy_RBTD)
            : BackwardAnywhere(saved[0], saved[1], saved[2], dy_RBTD);
    return {dx_RBTD, dgain_RD, Tensor()};
  }
};

}  // namespace

Tensor RmsNorm(const Tensor& x_RBTD, const Tensor& gain_RD, double eps) {
  TORCH_CHECK(x_RBTD.dim() == 4, "RmsNorm takes [R, B, T, D], not ",
              x_RBTD.sizes());
  const std::optional<Tensor> gain =
      gain_RD.defined() ? std::optional(gain_RD) : std::nullopt;
  return RmsNormFunction::apply(x_RBTD, gain, eps);
}

}  // namespace leadline::model
