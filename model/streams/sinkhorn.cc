#include "model/streams/sinkhorn.h"

#include <vector>

#include "model/layers/cpu_loop.h"
#include "model/streams/sinkhorn_kernel.h"

namespace leadline::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

int64_t Axis(int64_t half_round) { return half_round % 2 == 0 ? -1 : -2; }

/// The matrices after each half round.
std::vector<Tensor> RoundsAnywhere(const Tensor& logits_RBTMM) {
  std::vector<Tensor> matrices;
  Tensor x_RBTMM = logits_RBTMM;
  for (int64_t i = 0; i < 2 * kSinkhornRounds; ++i) {
    x_RBTMM = torch::log_softmax(x_RBTMM, Axis(i));
    matrices.push_back(x_RBTMM.exp());
  }
  return matrices;
}

Tensor BackwardAnywhere(const Tensor& logits_RBTMM, const Tensor& dout_RBTMM) {
  const std::vector<Tensor> matrices = RoundsAnywhere(logits_RBTMM);
  Tensor gradient = dout_RBTMM * matrices.back();
  for (auto i = static_cast<int64_t>(matrices.size()) - 1; i >= 0; --i) {
    gradient = gradient - matrices[i] * gradient.sum(Axis(i), true);
  }
  return gradient;
}

/// Calls `loop`(first, last) over tokens, cut at sequences.
template <typename Loop>
void EachToken(const Tensor& x_RBTMM, const Loop& loop) {
  const int64_t tokens = x_RBTMM.size(2);
  EachSequence(x_RBTMM, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) loop(i * tokens, (i + 1) * tokens);
  });
}

class SinkhornFunction : public torch::autograd::Function<SinkhornFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& logits_RBTMM) {
    context->save_for_backward({logits_RBTMM});
    if (!HasCpuLoops(logits_RBTMM)) return RoundsAnywhere(logits_RBTMM).back();
    Tensor out_RBTMM = torch::empty_like(logits_RBTMM);
    AT_DISPATCH_FLOATING_TYPES(out_RBTMM.scalar_type(), "Sinkhorn", [&] {
      const auto* logits = logits_RBTMM.const_data_ptr<scalar_t>();
      auto* out = out_RBTMM.data_ptr<scalar_t>();
      EachToken(logits_RBTMM, [&](int64_t first, int64_t last) {
        SinkhornForward(logits_RBTMM.size(-1), first, last, logits, out);
      });
    });
    return out_RBTMM;
  }

  static variable_list backward(AutogradContext* context,
                                const variable_list& gradients) {
    const Tensor logits_RBTMM = context->get_saved_variables()[0];
    const Tensor dout_RBTMM = gradients[0].contiguous();
    if (!HasCpuLoops(logits_RBTMM)) {
      return {BackwardAnywhere(logits_RBTMM, dout_RBTMM)};
    }
    Tensor dlogits_RBTMM = torch::empty_like(logits_RBTMM);
    AT_DISPATCH_FLOATING_TYPES(dout_RBTMM.scalar_type(), "Sinkhorn", [&] {
      const auto* logits = logits_RBTMM.const_data_ptr<scalar_t>();
      const auto* dout = dout_RBTMM.const_data_ptr<scalar_t>();
      auto* dlogits = dlogits_RBTMM.data_ptr<scalar_t>();
      EachToken(logits_RBTMM, [&](int64_t first, int64_t last) {
        SinkhornBackward(logits_RBTMM.size(-1), first, last, logits, dout,
                         dlogits);
      });
    });
    return {dlogits_RBTMM};
  }
};

}  // namespace

Tensor Sinkhorn(const Tensor& logits_RBTMM) {
  return SinkhornFunction::apply(logits_RBTMM.contiguous());
}

}  // namespace leadline::model
