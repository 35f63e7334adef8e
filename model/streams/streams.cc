#include "model/streams/streams.h"

#include "model/layers/cpu_loop.h"
#include "model/streams/stream_kernel.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

StreamShape ShapeOf(const Tensor& h_RBTMD) {
  return {.streams = h_RBTMD.size(3), .width = h_RBTMD.size(4)};
}

/// Calls `loop`(first, last) over tokens, cut at sequences.
template <typename Loop>
void EachToken(const Tensor& h_RBTMD, const Loop& loop) {
  const int64_t tokens = h_RBTMD.size(2);
  EachSequence(h_RBTMD, [&](int64_t first, int64_t last) {
    loop(first * tokens, last * tokens);
  });
}

class ReadFunction : public torch::autograd::Function<ReadFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& h_RBTMD,
                        const Tensor& coefficients_RBTMC) {
    context->save_for_backward({h_RBTMD, coefficients_RBTMC});
    Tensor x_RBTD = torch::empty(
        {h_RBTMD.size(0), h_RBTMD.size(1), h_RBTMD.size(2), h_RBTMD.size(4)},
        h_RBTMD.options());
    AT_DISPATCH_FLOATING_TYPES(h_RBTMD.scalar_type(), "ReadStreams", [&] {
      const auto* h = h_RBTMD.const_data_ptr<scalar_t>();
      const auto* c = coefficients_RBTMC.const_data_ptr<scalar_t>();
      auto* x = x_RBTD.data_ptr<scalar_t>();
      EachToken(h_RBTMD, [&](int64_t first, int64_t last) {
        ReadForward(ShapeOf(h_RBTMD), first, last, h, c, x);
      });
    });
    return x_RBTD;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dx_RBTD = gradients[0].contiguous();
    Tensor dh_RBTMD = torch::empty_like(saved[0]);
    Tensor dc_RBTMC = torch::empty_like(saved[1]);
    AT_DISPATCH_FLOATING_TYPES(dx_RBTD.scalar_type(), "ReadStreams", [&] {
      const auto* h = saved[0].const_data_ptr<scalar_t>();
      const auto* c = saved[1].const_data_ptr<scalar_t>();
      const auto* dx = dx_RBTD.const_data_ptr<scalar_t>();
      auto* dh = dh_RBTMD.data_ptr<scalar_t>();
      auto* dc = dc_RBTMC.data_ptr<scalar_t>();
      EachToken(dh_RBTMD, [&](int64_t first, int64_t last) {
        ReadBackward(ShapeOf(dh_RBTMD), first, last, h, c, dx, dh, dc);
      });
    });
    return {dh_RBTMD, dc_RBTMC};
  }
};

class MixFunction : public torch::autograd::Function<MixFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& h_RBTMD,
                        const Tensor& update_RBTD,
                        const Tensor& coefficients_RBTMC) {
    context->save_for_backward({h_RBTMD, update_RBTD, coefficients_RBTMC});
    Tensor out_RBTMD = torch::empty_like(h_RBTMD);
    AT_DISPATCH_FLOATING_TYPES(h_RBTMD.scalar_type(), "MixStreams", [&] {
      const auto* h = h_RBTMD.const_data_ptr<scalar_t>();
      const auto* u = update_RBTD.const_data_ptr<scalar_t>();
      const auto* c = coefficients_RBTMC.const_data_ptr<scalar_t>();
      auto* out = out_RBTMD.data_ptr<scalar_t>();
      EachToken(h_RBTMD, [&](int64_t first, int64_t last) {
        MixForward(ShapeOf(h_RBTMD), first, last, h, u, c, out);
      });
    });
    return out_RBTMD;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dout_RBTMD = gradients[0].contiguous();
    Tensor dh_RBTMD = torch::empty_like(saved[0]);
    Tensor du_RBTD = torch::empty_like(saved[1]);
    Tensor dc_RBTMC = torch::empty_like(saved[2]);
    AT_DISPATCH_FLOATING_TYPES(dout_RBTMD.scalar_type(), "MixStreams", [&] {
      const auto* h = saved[0].const_data_ptr<scalar_t>();
      const auto* u = saved[1].const_data_ptr<scalar_t>();
      const auto* c = saved[2].const_data_ptr<scalar_t>();
      const auto* dout = dout_RBTMD.const_data_ptr<scalar_t>();
      auto* dh = dh_RBTMD.data_ptr<scalar_t>();
      auto* du = du_RBTD.data_ptr<scalar_t>();
      auto* dc = dc_RBTMC.data_ptr<scalar_t>();
      EachToken(dh_RBTMD, [&](int64_t first, int64_t last) {
        MixBackward(ShapeOf(dh_RBTMD), first, last, h, u, c, dout, dh, du, dc);
      });
    });
    return {dh_RBTMD, du_RBTD, dc_RBTMC};
  }
};

}  // namespace

Tensor ReadStreams(const Tensor& h_RBTMD, const Tensor& coefficients_RBTMC) {
  if (HasCpuLoops(h_RBTMD)) {
    return ReadFunction::apply(h_RBTMD.contiguous(),
                               coefficients_RBTMC.contiguous());
  }
  const Tensor pre_RBT1M = coefficients_RBTMC.select(-1, 0).unsqueeze(-2);
  return torch::matmul(pre_RBT1M, h_RBTMD).squeeze(-2);
}

Tensor MixStreams(const Tensor& h_RBTMD, const Tensor& update_RBTD,
                  const Tensor& coefficients_RBTMC) {
  if (HasCpuLoops(h_RBTMD)) {
    return MixFunction::apply(h_RBTMD.contiguous(), update_RBTD.contiguous(),
                              coefficients_RBTMC.contiguous());
  }
  const int64_t streams = h_RBTMD.size(3);
  const Tensor mixing_RBTMM = coefficients_RBTMC.narrow(-1, 1, streams);
  const Tensor post_RBTM1 = coefficients_RBTMC.narrow(-1, streams + 1, 1);
  return torch::addcmul(torch::matmul(mixing_RBTMM.transpose(-1, -2), h_RBTMD),
                        post_RBTM1, update_RBTD.unsqueeze(-2));
}

}  // namespace leadline::model
